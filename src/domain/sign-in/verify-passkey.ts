import type { ChangeContext } from '../../auth/callers.ts';
import { parseAssertionResponse, type RelyingParty, verifyPasskeyAssertion } from '../../auth/webauthn.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import type { DatabaseWithDenials } from '../audit/denied-attempts.ts';
import { consumeChallenge } from './challenges.ts';
import type { FactorOwner } from './second-factors.ts';
import { signInBlocker, selectSignInStates } from '../users/sign-in-eligibility.ts';

export interface PasskeyAssertion {
  /** The credential that the browser returned, as JSON. */
  credential: string;
  relyingParty: RelyingParty;
  challenge: string;
  challengeExpiresAt: number;
}

type Passkey = NonNullable<Awaited<ReturnType<typeof findPasskey>>>;

/**
 * Verifies a sign-in with a passkey alone, which counts as two factors: the authenticator, and its verification of the
 * user.
 * @returns the user and the id of the passkey; `undefined` when the passkey is unknown or wrong, its user is banned, or
 *   their organization requires its identity provider; the response does not say which
 */
export async function verifyPasskeySignIn(
  database: DatabaseWithDenials,
  by: ChangeContext,
  assertion: PasskeyAssertion,
): Promise<(FactorOwner & { passkeyId: string }) | undefined> {
  const passkey = await findPasskey(database.db.read, assertion);
  const owner = passkey && { userId: passkey.user_id, organizationId: passkey.organization_id };
  const isValid =
    passkey !== undefined &&
    signInBlocker(passkey) === undefined &&
    (await verifyOnce(database, by, passkey, assertion));
  if (isValid && owner !== undefined) return { ...owner, passkeyId: passkey.id };
  database.deniedAttempts.record(by, {
    action: 'sign-in.refuse',
    object: ['user', owner?.userId ?? null],
    organizationId: owner?.organizationId ?? null,
    details: { method: 'passkey' },
  });
  return undefined;
}

/** @returns whether the assertion is valid and of this user's passkey */
export async function verifyPasskey(
  database: DatabaseWithDenials,
  by: ChangeContext,
  owner: FactorOwner,
  assertion: PasskeyAssertion,
): Promise<boolean> {
  const passkey = await findPasskey(database.db.read, assertion);
  return passkey?.user_id === owner.userId && verifyOnce(database, by, passkey, assertion);
}

async function findPasskey(db: ReadConnection, assertion: PasskeyAssertion) {
  const response = await parseAssertionResponse(assertion.credential);
  if (response === undefined) return undefined;
  return selectSignInStates(db)
    .innerJoin('passkeys', 'passkeys.user_id', 'users.id')
    .select([
      'passkeys.id',
      'passkeys.public_key',
      'passkeys.counter',
      'passkeys.user_id',
      'users.uid as user_uid',
      'users.organization_id',
    ])
    .where('passkeys.id', '=', response.id)
    .executeTakeFirst();
}

/** Verifies an assertion, and uses up its challenge. */
async function verifyOnce(
  { db, deniedAttempts }: DatabaseWithDenials,
  by: ChangeContext,
  passkey: Passkey,
  { credential, relyingParty, challenge, challengeExpiresAt }: PasskeyAssertion,
): Promise<boolean> {
  const response = await parseAssertionResponse(credential);
  if (response === undefined) return false;
  const { userHandle } = response.response;
  if (userHandle !== undefined && Buffer.from(userHandle, 'base64url').toString() !== passkey.user_uid)
    return false;
  const counter = await verifyPasskeyAssertion(relyingParty, challenge, response, passkey.public_key);
  if (counter === undefined) return false;
  const outcome = await db.write(async (tx) => {
    if (!(await consumeChallenge(tx, challenge, challengeExpiresAt, by.now))) return 'used-before';
    return (await advanceCounter(tx, by, passkey, counter)) ? 'valid' : 'cloned';
  });
  if (outcome === 'cloned') {
    deniedAttempts.record(by, {
      action: 'passkey.refuse',
      object: ['passkey', passkey.id],
      organizationId: passkey.organization_id,
      details: { user: passkey.user_id, counter_before: passkey.counter, counter },
    });
  }
  return outcome === 'valid';
}

/**
 * @returns whether the counter has grown, or is always 0; otherwise the authenticator may have been cloned (WebAuthn,
 *   section 6.1.1)
 */
async function advanceCounter(
  tx: Transaction,
  by: ChangeContext,
  passkey: Passkey,
  counter: number,
): Promise<boolean> {
  const advanced = await tx
    .updateTable('passkeys')
    .set({ counter, last_used_at: by.now, last_used_from: by.actor.address })
    .where('id', '=', passkey.id)
    // Authenticators without a counter always send 0.
    .where((eb) => (counter === 0 ? eb('counter', '=', 0) : eb('counter', '<', counter)))
    .returning('id')
    .executeTakeFirst();
  return advanced !== undefined;
}
