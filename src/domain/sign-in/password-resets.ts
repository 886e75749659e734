import { type ChangeContext, onBehalfOf } from '../../auth/callers.ts';
import { normalizeEmail } from '../../auth/email-addresses.ts';
import { hashSecret, newSecret } from '../../auth/secrets.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { clearAllAttempts } from '../shared/attempt-limits.ts';
import { recordEvent } from '../audit/record-event.ts';
import { revokeConsent } from '../tokens/consents.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { setPassword } from './passwords.ts';
import { endSessions } from './end-sessions.ts';
import { type SignInBlocker, signInBlocker, selectSignInStates } from '../users/sign-in-eligibility.ts';
import { signInSubject } from './sign-in-with-password.ts';

/** Milliseconds for which a link is valid. */
const LIFETIME = 3_600_000;
/** The account whose password a link sets. */
export interface PasswordReset {
  userId: number;
  email: string;
  name: string | null;
  /** `null` for platform staff. */
  organizationId: number | null;
  organization: string | null;
}

/**
 * Valid mailed links per account; a new one invalidates the oldest. An account gets at most three mails per hour, and
 * each mail is attempted at most six times.
 */
const MAX_MAILED = 20;

/**
 * Creates a link that sets a new password. A link created by hand, which an admin or operator passes on, revokes
 * the previous one that was created by hand. A mailed link revokes only mailed ones beyond `MAX_MAILED`, because anyone
 * can request one for any account.
 * @returns the secret of the link, which is not stored, its expiry, and the user's email address
 * @throws DomainError `not-found` for the user; `forbidden` for users who cannot have a password
 */
export async function createPasswordReset(
  tx: Transaction,
  by: ChangeContext,
  userId: number,
  source: 'hand' | 'mail' = 'hand',
): Promise<{ secret: string; expiresAt: number; recipient: string }> {
  const user = await selectSignInStates(tx)
    .select(['users.email', 'users.organization_id'])
    .where('users.id', '=', userId)
    .executeTakeFirst();
  if (user === undefined) throw notFound('user');
  const blocker = signInBlocker(user);
  if (blocker !== undefined) throw new DomainError(BLOCKERS[blocker]);
  const secret = newSecret();
  const values = { secret_hash: hashSecret(secret), expires_at: by.now + LIFETIME };
  await revokeOlderLinks(tx, userId, source);
  await tx
    .insertInto('password_resets')
    .values({ user_id: userId, made_by: source, ...values })
    .execute();
  await recordEvent(tx, by, {
    action: 'password-reset.create',
    object: ['user', userId],
    organizationId: user.organization_id,
    before: null,
    after: { expires_at: values.expires_at },
  });
  return { secret, expiresAt: values.expires_at, recipient: user.email };
}

/** Revokes older links, so that the new one is within the limit. */
async function revokeOlderLinks(tx: Transaction, userId: number, source: 'hand' | 'mail'): Promise<void> {
  const newest = tx
    .selectFrom('password_resets')
    .select('secret_hash')
    .where('user_id', '=', userId)
    .where('made_by', '=', source)
    .orderBy('expires_at', 'desc')
    .orderBy('secret_hash')
    .limit(source === 'hand' ? 0 : MAX_MAILED - 1);
  await tx
    .deleteFrom('password_resets')
    .where('user_id', '=', userId)
    .where('made_by', '=', source)
    .where('secret_hash', 'not in', newest)
    .execute();
}

/** @returns the id of the account with this address if a link can set its password */
export async function findResettableUser(db: ReadConnection, email: string): Promise<number | undefined> {
  const user = await selectSignInStates(db)
    .select('users.id')
    .where('users.normalized_email', '=', normalizeEmail(email))
    .executeTakeFirst();
  return user !== undefined && signInBlocker(user) === undefined ? user.id : undefined;
}

/** @returns the account of a link; `expired` if the link has expired or its account may not have a password */
export async function findPasswordReset(
  db: ReadConnection,
  secret: string,
  now: number,
): Promise<PasswordReset | 'expired' | undefined> {
  const row = await selectSignInStates(db)
    .innerJoin('password_resets', 'password_resets.user_id', 'users.id')
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .select([
      'users.id as userId',
      'users.email',
      'users.name',
      'users.organization_id as organizationId',
      'organizations.name as organization',
      'password_resets.expires_at',
    ])
    .where('password_resets.secret_hash', '=', hashSecret(secret))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (row.expires_at <= now || signInBlocker(row) !== undefined) return 'expired';
  const { userId, email, name, organizationId, organization } = row;
  return { userId, email, name, organizationId, organization };
}

/**
 * Sets the password of a link, once, and ends all other links. All sessions end, applications lose their access,
 * and the sign-in lock is lifted. Personal access tokens stay valid.
 * @param passwordHash argon2id, PHC format
 * @throws DomainError `not-found` when the link was used, replaced or has expired
 */
export async function redeemPasswordReset(
  tx: Transaction,
  by: ChangeContext,
  secret: string,
  reset: PasswordReset,
  passwordHash: string,
): Promise<void> {
  const used = await tx
    .deleteFrom('password_resets')
    .where('secret_hash', '=', hashSecret(secret))
    .where('expires_at', '>', by.now)
    .returning('user_id')
    .executeTakeFirst();
  if (used?.user_id !== reset.userId) throw notFound('link');
  const { userId, organizationId } = reset;
  // The holder of the link acts, even if another user is signed in.
  const holderContext = onBehalfOf(by, userId);
  await recordEvent(tx, holderContext, {
    action: 'password-reset.use',
    object: ['user', userId],
    organizationId,
    before: null,
    after: null,
  });
  await setPassword(tx, holderContext, userId, passwordHash);
  await endSessions(tx, holderContext, reset, null);
  for (const clientId of await connectedClients(tx, userId))
    await revokeConsent(tx, holderContext, { userId, organizationId, clientId });
  await clearAllAttempts(tx, signInSubject(reset.email));
}

async function connectedClients(db: ReadConnection, userId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('oauth_consents')
    .select('client_id')
    .distinct()
    .where('user_id', '=', userId)
    .orderBy('client_id')
    .execute();
  return rows.map((row) => row.client_id);
}

const BLOCKERS = {
  banned: 'password-user-banned',
  invited: 'password-user-invited',
  provider: 'password-user-sso',
} as const satisfies Readonly<Record<SignInBlocker, string>>;
