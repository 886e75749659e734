import type { ChangeContext } from '../../auth/callers.ts';
import { verifyPassword } from '../../auth/passwords.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate, forShare } from '../../db/dialect-sql.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';
import { recordAttempt, clearAttempts, withdrawAttempt } from '../shared/attempt-limits.ts';
import { recordEvent } from '../audit/record-event.ts';
import type { DatabaseWithDenials } from '../audit/denied-attempts.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { endSessions } from './end-sessions.ts';
import { selectSignInStates, usablePasswordHash } from '../users/sign-in-eligibility.ts';

const LIMIT = { max: 10, window: 600_000 };

/** The owner of a factor; a session has these members. */
export interface FactorOwner {
  userId: number;
  /** `null` for platform staff. */
  organizationId: number | null;
}

export interface SecondFactors {
  /** Whether it has an authenticator app. */
  totp: boolean;
  passkeys: number;
  /** Unused codes. They help an account that has another factor, but are no factor of their own. */
  recoveryCodes: number;
}

/** Whether platform staff need a second factor. `undefined` means that they do. */
export type StaffSecondFactor = 'required' | 'optional' | undefined;

export type SecondFactorResult =
  | { outcome: 'right' }
  | { outcome: 'wrong' }
  /** Too many failures of this account. @property retryAfter seconds */
  | { outcome: 'locked'; retryAfter: number };

/** @returns the factors of an account; none for an unknown user */
export async function secondFactorsOf(db: ReadConnection, userId: number): Promise<SecondFactors> {
  const row = await db
    .selectFrom('users')
    .leftJoin('totp_secrets', 'totp_secrets.user_id', 'users.id')
    .select((eb) => [
      'totp_secrets.user_id as totp',
      eb
        .selectFrom('passkeys')
        .select((count) => count.fn.countAll().as('count'))
        .whereRef('passkeys.user_id', '=', 'users.id')
        .as('passkeys'),
      eb
        .selectFrom('recovery_codes')
        .select((count) => count.fn.countAll().as('count'))
        .whereRef('recovery_codes.user_id', '=', 'users.id')
        .where('recovery_codes.used_at', 'is', null)
        .as('recoveryCodes'),
    ])
    .where('users.id', '=', userId)
    .executeTakeFirst();
  return {
    totp: row !== undefined && row.totp !== null,
    passkeys: Number(row?.passkeys ?? 0),
    recoveryCodes: Number(row?.recoveryCodes ?? 0),
  };
}

export function hasSecondFactor({ totp, passkeys }: SecondFactors): boolean {
  return totp || passkeys > 0;
}

/**
 * Whether an account must have a second factor: its organization requires one, or it belongs to staff and `staff` is
 * not `optional`.
 */
export async function requiresSecondFactor(
  db: ReadConnection,
  { organizationId }: Pick<FactorOwner, 'organizationId'>,
  staff: StaffSecondFactor,
): Promise<boolean> {
  if (organizationId === null) return staff !== 'optional';
  const organization = await db
    .selectFrom('organizations')
    .select('require_second_factor as required')
    .where('id', '=', organizationId)
    .executeTakeFirst();
  return organization?.required === 1;
}

/** Whether a password alone does not complete a sign-in: the account has a second factor, or must have one. */
export async function needsSecondFactorToSignIn(
  db: ReadConnection,
  owner: FactorOwner,
  staff: StaffSecondFactor,
): Promise<boolean> {
  return hasSecondFactor(await secondFactorsOf(db, owner.userId)) || requiresSecondFactor(db, owner, staff);
}

/**
 * Verifies a second factor during or after sign-in. Ten failures within ten minutes lock this for the account, from
 * any address, for ten minutes: the caller knows the password or has the session. The attempt is recorded before
 * the check, so that concurrent attempts cannot exceed the limit.
 * @param check verifies the input, and accepts nothing twice; if it throws, the attempt is not counted
 */
export async function verifySecondFactor(
  { db, deniedAttempts }: DatabaseWithDenials,
  by: ChangeContext,
  owner: FactorOwner,
  check: () => Promise<boolean>,
): Promise<SecondFactorResult> {
  const key = { subject: `second-factor:${owner.userId}`, address: '' };
  const attempt = await db.write((tx) => recordAttempt(tx, key, LIMIT, by.now));
  if (attempt.outcome === 'locked') return attempt;
  const isRight = await check().catch(async (error: unknown) => {
    await db.write((tx) => withdrawAttempt(tx, key, by.now));
    throw error;
  });
  if (isRight) {
    await db.write((tx) => clearAttempts(tx, key));
    return { outcome: 'right' };
  }
  deniedAttempts.record(by, {
    action: attempt.count === LIMIT.max ? 'second-factor.lock' : 'second-factor.refuse',
    object: ['user', owner.userId],
    organizationId: owner.organizationId,
    details: null,
  });
  return { outcome: 'wrong' };
}

/** @returns whether this is the account's password; false for accounts that cannot sign in with one */
export async function verifyPasswordOf(
  db: ReadConnection,
  userId: number,
  password: string,
): Promise<boolean> {
  return verifyPassword(await passwordHashOf(db, userId), password);
}

/** @returns whether the account can sign in with a password */
export async function hasUsablePassword(db: ReadConnection, userId: number): Promise<boolean> {
  return (await passwordHashOf(db, userId)) !== null;
}

async function passwordHashOf(db: ReadConnection, userId: number): Promise<string | null> {
  const account = await selectSignInStates(db)
    .select('users.password_hash')
    .where('users.id', '=', userId)
    .executeTakeFirst();
  return account === undefined ? null : usablePasswordHash(account);
}

/**
 * Call this before recovery codes are created.
 * @throws DomainError `conflict` when the account has no second factor
 */
export async function lockForRecoveryCodes(tx: Transaction, owner: FactorOwner): Promise<void> {
  await lockFactors(tx, owner);
  if (!hasSecondFactor(await secondFactorsOf(tx, owner.userId))) throw new DomainError('no-second-factor');
}

const lockOrganization = preparePipelined<{ id: number }>((tx, p) =>
  tx.selectFrom('organizations').select('id').where('id', '=', p.id).modifyEnd(forShare(tx)),
);

const lockUser = preparePipelined<{ id: number }>((tx, p) =>
  tx.selectFrom('users').select('id').where('id', '=', p.id).modifyEnd(forNoKeyUpdate(tx)),
);

/**
 * Locks the organization, for its requirement, and then the account. Call this before factors change and before a
 * session starts. Otherwise, concurrent transactions could act on an outdated state.
 */
export async function lockFactors(tx: Transaction, { userId, organizationId }: FactorOwner): Promise<void> {
  if (organizationId !== null) await lockOrganization(tx, { id: organizationId });
  await lockUser(tx, { id: userId });
}

/**
 * Call this after a factor was removed. Deletes the recovery codes with the last one.
 * @throws DomainError `forbidden` when none is left and the account must have one
 */
export async function handleRemovedFactor(
  tx: Transaction,
  owner: FactorOwner,
  staff: StaffSecondFactor,
): Promise<void> {
  if (hasSecondFactor(await secondFactorsOf(tx, owner.userId))) return;
  if (await requiresSecondFactor(tx, owner, staff)) throw new DomainError('last-second-factor');
  await tx.deleteFrom('recovery_codes').where('user_id', '=', owner.userId).execute();
}

/**
 * Removes all second factors of a user and ends their sessions. They can then sign in with their password, and set
 * up a factor if they must have one.
 * @returns the removed factors
 * @throws DomainError `not-found` for the user
 */
export async function resetSecondFactor(
  tx: Transaction,
  by: ChangeContext,
  userId: number,
): Promise<SecondFactors> {
  const user = await tx
    .selectFrom('users')
    .select('organization_id')
    .where('id', '=', userId)
    .executeTakeFirst();
  if (user === undefined) throw notFound('user');
  const owner = { userId, organizationId: user.organization_id };
  await lockFactors(tx, owner);
  const before = await secondFactorsOf(tx, userId);
  await tx.deleteFrom('totp_secrets').where('user_id', '=', userId).execute();
  await tx.deleteFrom('passkeys').where('user_id', '=', userId).execute();
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  await endSessions(tx, by, owner, null);
  await recordEvent(tx, by, {
    action: 'user.reset-second-factor',
    object: ['user', userId],
    organizationId: owner.organizationId,
    before: { totp: before.totp, passkeys: before.passkeys, recovery_codes: before.recoveryCodes },
    after: null,
  });
  return before;
}
