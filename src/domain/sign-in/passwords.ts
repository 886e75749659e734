import type { ChangeContext } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { notFound } from '../shared/errors.ts';
import { endOtherSessionsAndRotate, type Session } from './sessions.ts';
import { signInBlocker, selectSignInStates, usablePasswordHash } from '../users/sign-in-eligibility.ts';

/**
 * Sets the password of an account and ends its reset links. Tokens stay valid.
 * @param passwordHash argon2id, PHC format
 * @throws DomainError `not-found` for an unknown or banned user
 */
export async function setPassword(
  tx: Transaction,
  by: ChangeContext,
  userId: number,
  passwordHash: string,
): Promise<void> {
  const user = await tx
    .updateTable('users')
    .set({ password_hash: passwordHash })
    .where('id', '=', userId)
    .where('banned_at', 'is', null)
    .returning('organization_id')
    .executeTakeFirst();
  if (user === undefined) throw notFound('user');
  await tx.deleteFrom('password_resets').where('user_id', '=', userId).execute();
  await recordEvent(tx, by, {
    action: 'user.set-password',
    object: ['user', userId],
    organizationId: user.organization_id,
    before: null,
    after: null,
  });
}

/**
 * Changes the password of the signed-in user: their other sessions end, and this one gets a new secret.
 * @param passwordHash argon2id, PHC format
 * @returns the secret for this session's cookie
 * @throws DomainError `not-found` when the user was banned in the meantime; SessionEnded
 */
export async function changePassword(
  tx: Transaction,
  by: ChangeContext,
  session: Session,
  passwordHash: string,
): Promise<string> {
  await setPassword(tx, by, session.userId, passwordHash);
  return endOtherSessionsAndRotate(tx, by, session);
}

/**
 * @returns whether an account has a password; `provider` when its organization requires sign-in through its provider
 */
export async function passwordStatus(
  db: ReadConnection,
  userId: number,
): Promise<'password' | 'none' | 'provider'> {
  const account = await selectSignInStates(db)
    .select('users.password_hash')
    .where('users.id', '=', userId)
    .executeTakeFirst();
  if (account === undefined) return 'none';
  if (signInBlocker(account) === 'provider') return 'provider';
  return usablePasswordHash(account) === null ? 'none' : 'password';
}
