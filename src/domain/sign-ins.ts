import type { Actor } from '../auth/callers.ts';
import { verifyPassword } from '../auth/passwords.ts';
import { hashSecret } from '../auth/secrets.ts';
import type { Database, Transaction } from '../db/engine.ts';
import { nameKey } from '../db/portable.ts';
import { recordChange } from './audit.ts';

const MAX_FAILURES = 10;
const WINDOW = 600_000;

/** What came of an attempt to sign in with a password. */
export type SignIn =
  | { outcome: 'signed-in'; userId: number; organizationId: number | null }
  /** Wrong, unknown, banned, invited, or to be done through the organization's provider: nobody is told which. */
  | { outcome: 'refused' }
  /** Too many failures of this account and address. @property retryAfter in seconds */
  | { outcome: 'locked'; retryAfter: number };

interface Account {
  id: number;
  organization_id: number | null;
  password_hash: string | null;
  banned_at: number | null;
  sso_only: number | null;
}

/**
 * Checks an e-mail address and a password. Ten failures within ten minutes lock the pair of account and network address
 * for as long (docs/decided.md, section 11), whether there is such an account or not. An attempt is counted before the
 * password is looked at, so that many at once are no way around it.
 */
export async function signInWithPassword(
  db: Database,
  actor: Actor,
  attempt: { email: string; password: string; address: string },
  now: number,
): Promise<SignIn> {
  // The address that was typed is not kept: people type passwords there.
  const key = { account: hashSecret(nameKey(attempt.email)), address: attempt.address };
  const { failures, endsAt } = await db.write((tx) => countAttempt(tx, key, now));
  if (failures > MAX_FAILURES) return { outcome: 'locked', retryAfter: Math.ceil((endsAt - now) / 1000) };

  const account: Account | undefined = await db.read
    .selectFrom('users')
    .leftJoin('identity_providers', 'identity_providers.organization_id', 'users.organization_id')
    .select([
      'users.id',
      'users.organization_id',
      'users.password_hash',
      'users.banned_at',
      'identity_providers.sso_only',
    ])
    .where('email_key', '=', nameKey(attempt.email))
    .executeTakeFirst();
  const right = await verifyPassword(account?.password_hash ?? null, attempt.password);
  if (right && account !== undefined && account.banned_at === null && account.sso_only !== 1) {
    await db.write((tx) => forgetFailures(tx, key));
    return { outcome: 'signed-in', userId: account.id, organizationId: account.organization_id };
  }
  await db.write((tx) =>
    recordChange(tx, actor, {
      at: now,
      action: failures === MAX_FAILURES ? 'sign-in.lock' : 'sign-in.refuse',
      object: ['user', account?.id ?? 'unknown'],
      organizationId: account?.organization_id ?? null,
      before: null,
      after: { failures },
    }),
  );
  return { outcome: 'refused' };
}

/** Counts an attempt as a failure until it turns out to be none. */
async function countAttempt(
  tx: Transaction,
  key: { account: string; address: string },
  now: number,
): Promise<{ failures: number; endsAt: number }> {
  await tx
    .deleteFrom('sign_in_failures')
    .where('account', '=', key.account)
    .where('address', '=', key.address)
    .where('ends_at', '<=', now)
    .execute();
  const row = await tx
    .insertInto('sign_in_failures')
    .values({ ...key, failures: 1, ends_at: now + WINDOW })
    .onConflict((conflict) =>
      conflict.columns(['account', 'address']).doUpdateSet((eb) => ({
        failures: eb('sign_in_failures.failures', '+', 1),
        // The lock lasts ten minutes from the failure that closed it, and trying again does not prolong it.
        ends_at: eb
          .case()
          .when('sign_in_failures.failures', '=', MAX_FAILURES - 1)
          .then(now + WINDOW)
          .else(eb.ref('sign_in_failures.ends_at'))
          .end(),
      })),
    )
    .returning(['failures', 'ends_at'])
    .executeTakeFirstOrThrow();
  return { failures: row.failures, endsAt: row.ends_at };
}

async function forgetFailures(tx: Transaction, key: { account: string; address: string }): Promise<void> {
  await tx
    .deleteFrom('sign_in_failures')
    .where('account', '=', key.account)
    .where('address', '=', key.address)
    .execute();
}
