import type { Act } from '../../auth/callers.ts';
import { emailKey } from '../../auth/email-addresses.ts';
import { networkOf } from '../../auth/ip-addresses.ts';
import { requirePasswordTurn, verifyPassword } from '../../auth/passwords.ts';
import { hashSecret } from '../../auth/secrets.ts';
import { type AttemptKey, boundedKey, countAttempt, forgetAttempts } from './attempt-limits.ts';
import type { RefusingDatabase } from '../audit/denied-attempts.ts';
import { signInStates, usablePassword } from '../users/sign-in-eligibility.ts';

/** docs/decided.md, section 11. */
const LIMIT = { max: 10, window: 600_000 };

/** What came of an attempt to sign in with a password. */
export type SignIn =
  /** @property passwordHash what the password was compared with: the sign-in is good while that is the account's */
  | { outcome: 'signed-in'; userId: number; organizationId: number | null; passwordHash: string }
  /** Wrong, unknown, banned, invited, or to be done through the organization's provider: nobody is told which. */
  | { outcome: 'refused' }
  /** Too many failures of this account and address. @property retryAfter in seconds */
  | { outcome: 'locked'; retryAfter: number };

/**
 * Checks an e-mail address and a password. Ten failures within ten minutes lock the pair of account and network address
 * for as long (docs/decided.md, section 11), whether there is such an account or not. An attempt is counted before the
 * password is looked at, so that many at once are no way around it; a success forgets the failures before it. Accounts
 * beyond a hundred that are tried from one address within that time share one lock there.
 * @throws TooManyPasswords when too many wait to be looked at; the attempt is not counted then
 */
export async function signInWithPassword(
  { db, refusals }: RefusingDatabase,
  act: Act,
  attempt: { email: string; password: string; address: string },
): Promise<SignIn> {
  requirePasswordTurn();
  const key: AttemptKey = { subject: signInSubject(attempt.email), address: networkOf(attempt.address) };
  const counted = await db.write(async (tx) =>
    countAttempt(tx, await boundedKey(tx, key, 'sign-in', act.now), LIMIT, act.now),
  );
  if (counted.outcome === 'locked') return counted;

  const account = await signInStates(db.read)
    .select(['users.id', 'users.organization_id', 'users.password_hash'])
    .where('email_key', '=', emailKey(attempt.email))
    .executeTakeFirst();
  const passwordHash = account === undefined ? null : usablePassword(account);
  const right = await verifyPassword(passwordHash, attempt.password);
  if (right && passwordHash !== null && account !== undefined) {
    await db.write((tx) => forgetAttempts(tx, key));
    return {
      outcome: 'signed-in',
      userId: account.id,
      organizationId: account.organization_id,
      passwordHash,
    };
  }
  refusals.record(act, {
    action: counted.count === LIMIT.max ? 'sign-in.lock' : 'sign-in.refuse',
    object: ['user', account?.id ?? null],
    organizationId: account?.organization_id ?? null,
    details: { method: 'password' },
  });
  return { outcome: 'refused' };
}

/** @returns what the failures of an account are counted under */
export function signInSubject(email: string): string {
  return `sign-in:${hashSecret(emailKey(email))}`;
}
