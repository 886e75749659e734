import type { ChangeContext } from '../../auth/callers.ts';
import { normalizeEmail } from '../../auth/email-addresses.ts';
import { networkPrefix } from '../../auth/ip-addresses.ts';
import { requireHashCapacity, verifyPassword } from '../../auth/passwords.ts';
import { hashSecret } from '../../auth/secrets.ts';
import {
  type AttemptKey,
  throttleKey,
  clearAttempts,
  recordAttempt,
  withdrawAttempt,
} from '../shared/attempt-limits.ts';
import type { DatabaseWithDenials } from '../audit/denied-attempts.ts';
import { selectSignInStates, usablePasswordHash } from '../users/sign-in-eligibility.ts';

/** docs/decided.md, section 11. */
const LIMIT = { max: 10, window: 600_000 };

export type SignInResult =
  /** @property passwordHash the hash that was verified; the sign-in is valid while it is the account's */
  | { outcome: 'signed-in'; userId: number; organizationId: number | null; passwordHash: string }
  /**
   * Wrong, unknown, banned, invited, or required to use the organization's provider; the response does not say which.
   */
  | { outcome: 'refused' }
  /** Too many failures of this account and address. @property retryAfter seconds */
  | { outcome: 'locked'; retryAfter: number };

/**
 * Verifies an email address and a password. Ten failures within ten minutes lock the pair of account and network
 * address for ten minutes (docs/decided.md, section 11), whether or not the account exists. The attempt is recorded
 * before the check, so that concurrent attempts cannot exceed the limit; a success clears earlier failures. Beyond
 * a hundred accounts tried from one address in that time, further ones share a lock there, for which a success neither
 * counts nor clears failures, as these may be of other accounts.
 * @throws PasswordQueueFull when too many passwords are being verified; the attempt is not counted then
 */
export async function signInWithPassword(
  { db, deniedAttempts }: DatabaseWithDenials,
  by: ChangeContext,
  attempt: { email: string; password: string; address: string },
): Promise<SignInResult> {
  requireHashCapacity();
  const attemptKey: AttemptKey = {
    subject: signInSubject(attempt.email),
    address: networkPrefix(attempt.address),
  };
  const { key, counted } = await db.write(async (tx) => {
    const countedKey = await throttleKey(tx, attemptKey, 'sign-in', by.now);
    return { key: countedKey, counted: await recordAttempt(tx, countedKey, LIMIT, by.now) };
  });
  if (counted.outcome === 'locked') return counted;

  const account = await selectSignInStates(db.read)
    .select(['users.id', 'users.organization_id', 'users.password_hash'])
    .where('normalized_email', '=', normalizeEmail(attempt.email))
    .executeTakeFirst();
  const passwordHash = account === undefined ? null : usablePasswordHash(account);
  const isValid = await verifyPassword(passwordHash, attempt.password).catch(async (error: unknown) => {
    await db.write((tx) => withdrawAttempt(tx, key, by.now));
    throw error;
  });
  if (isValid && passwordHash !== null && account !== undefined) {
    await db.write((tx) =>
      key.subject === attemptKey.subject ? clearAttempts(tx, key) : withdrawAttempt(tx, key, by.now),
    );
    return {
      outcome: 'signed-in',
      userId: account.id,
      organizationId: account.organization_id,
      passwordHash,
    };
  }
  deniedAttempts.record(by, {
    action: counted.count === LIMIT.max ? 'sign-in.lock' : 'sign-in.refuse',
    object: ['user', account?.id ?? null],
    organizationId: account?.organization_id ?? null,
    details: { method: 'password' },
  });
  return { outcome: 'refused' };
}

/** @returns the subject of sign-in attempts */
export function signInSubject(email: string): string {
  return `sign-in:${hashSecret(normalizeEmail(email))}`;
}
