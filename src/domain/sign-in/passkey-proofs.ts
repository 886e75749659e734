import type { Act } from '../../auth/callers.ts';
import { readPasskeyUse, type RelyingParty, verifyPasskeyUse } from '../../auth/webauthn.ts';
import type { Database, Reader, Transaction } from '../../db/engine.ts';
import { recordChange } from '../shared/audit.ts';
import { consumeChallenge } from './challenges.ts';
import type { FactorOwner } from './second-factors.ts';

/** The answer of a browser that was asked to use a passkey. */
export interface PasskeyAnswer {
  /** The credential as JSON. */
  credential: string;
  relyingParty: RelyingParty;
  /** What the browser was asked with, and until when it was to answer. */
  challenge: string;
  endsAt: number;
}

interface Passkey {
  id: string;
  public_key: string;
  counter: number;
  user_id: number;
  uid: string;
  organization_id: number | null;
  banned_at: number | null;
  sso_only: number | null;
}

/**
 * Checks a sign-in with a passkey alone, which is two factors: the authenticator, and what it verified its user by.
 * @returns whose it is; `undefined` when it is unknown or wrong, its user is banned, or their organization wants
 *   sign-ins through its provider only: nobody is told which
 */
export async function signInWithPasskey(
  db: Database,
  act: Act,
  answer: PasskeyAnswer,
): Promise<FactorOwner | undefined> {
  const passkey = await passkeyOf(db.read, answer);
  const owner = passkey && { userId: passkey.user_id, organizationId: passkey.organization_id };
  const right =
    passkey !== undefined &&
    passkey.banned_at === null &&
    passkey.sso_only !== 1 &&
    (await proves(db, act, passkey, answer));
  if (right) return owner;
  await db.write((tx) =>
    recordChange(tx, act, {
      action: 'sign-in.refuse',
      object: ['user', owner?.userId ?? 'unknown'],
      organizationId: owner?.organizationId ?? null,
      before: null,
      after: { method: 'passkey' },
    }),
  );
  return undefined;
}

/** @returns whether a passkey of this user was used, rightly */
export async function usePasskey(
  db: Database,
  act: Act,
  owner: FactorOwner,
  answer: PasskeyAnswer,
): Promise<boolean> {
  const passkey = await passkeyOf(db.read, answer);
  return passkey?.user_id === owner.userId && proves(db, act, passkey, answer);
}

async function passkeyOf(db: Reader, answer: PasskeyAnswer): Promise<Passkey | undefined> {
  const use = await readPasskeyUse(answer.credential);
  if (use === undefined) return undefined;
  return db
    .selectFrom('passkeys')
    .innerJoin('users', 'users.id', 'passkeys.user_id')
    .leftJoin('identity_providers', 'identity_providers.organization_id', 'users.organization_id')
    .select([
      'passkeys.id',
      'passkeys.public_key',
      'passkeys.counter',
      'passkeys.user_id',
      'users.uid',
      'users.organization_id',
      'users.banned_at',
      'identity_providers.sso_only',
    ])
    .where('passkeys.id', '=', use.id)
    .executeTakeFirst();
}

async function proves(
  db: Database,
  act: Act,
  passkey: Passkey,
  { credential, relyingParty, challenge, endsAt }: PasskeyAnswer,
): Promise<boolean> {
  const use = await readPasskeyUse(credential);
  if (use === undefined) return false;
  const { userHandle } = use.response;
  if (userHandle !== undefined && Buffer.from(userHandle, 'base64url').toString() !== passkey.uid)
    return false;
  const counter = await verifyPasskeyUse(relyingParty, challenge, use, passkey.public_key);
  if (counter === undefined) return false;
  return db.write(async (tx) => {
    if (!(await consumeChallenge(tx, challenge, endsAt, act.now))) return false;
    return countUse(tx, act, passkey, counter);
  });
}

/** A counter that does not grow means that someone has copied the authenticator (WebAuthn, section 6.1.1). */
async function countUse(tx: Transaction, act: Act, passkey: Passkey, counter: number): Promise<boolean> {
  const counted = await tx
    .updateTable('passkeys')
    .set({ counter, last_used_at: act.now, last_used_from: act.actor.address })
    .where('id', '=', passkey.id)
    // An authenticator that keeps no counter says 0 every time.
    .where((eb) => (counter === 0 ? eb('counter', '=', 0) : eb('counter', '<', counter)))
    .returning('id')
    .executeTakeFirst();
  if (counted !== undefined) return true;
  await recordChange(tx, act, {
    action: 'passkey.refuse',
    object: ['passkey', passkey.id],
    organizationId: passkey.organization_id,
    before: { user: passkey.user_id, counter: passkey.counter },
    after: { counter },
  });
  return false;
}
