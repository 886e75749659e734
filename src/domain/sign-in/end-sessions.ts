import type { ChangeContext } from '../../auth/callers.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { recordEvents } from '../audit/record-event.ts';
import { SSO_METHOD } from '../users/sign-in-eligibility.ts';
import { notFound } from '../shared/errors.ts';
import { revokeTokens } from '../tokens/revoke-tokens.ts';
import { bumpCredentialVersion } from '../tokens/credentials.ts';
import { CONSOLE_CLIENT } from '../tokens/oauth-clients.ts';

interface SessionOwner {
  userId: number;
  /** `null` for platform staff. */
  organizationId: number | null;
}

/** @throws DomainError `not-found` when the user has no such session */
export async function endSession(
  tx: Transaction,
  by: ChangeContext,
  user: SessionOwner,
  sessionId: string,
): Promise<void> {
  if (!(await endSessionIfAny(tx, by, user, sessionId))) throw notFound('session');
}

/** @returns whether the session existed */
export async function endSessionIfAny(
  tx: Transaction,
  by: ChangeContext,
  user: SessionOwner,
  sessionId: string,
): Promise<boolean> {
  const ended = await tx
    .deleteFrom('sessions')
    .where('id', '=', sessionId)
    .where('user_id', '=', user.userId)
    .returning(['id', 'user_id'])
    .execute();
  await recordSessionsEnded(tx, by, user.organizationId, ended);
  return ended.length > 0;
}

/**
 * Ends all sessions of a user.
 * @param except the id of a session that stays; `null` for none
 * @returns the number of ended sessions
 */
export async function endSessions(
  tx: Transaction,
  by: ChangeContext,
  user: SessionOwner,
  except: string | null,
): Promise<number> {
  let query = tx.deleteFrom('sessions').where('user_id', '=', user.userId);
  if (except !== null) query = query.where('id', '<>', except);
  const ended = await query.returning(['id', 'user_id']).execute();
  await recordSessionsEnded(tx, by, user.organizationId, ended);
  return ended.length;
}

/**
 * Ends the sessions of users of one organization (of platform staff for `null`), except those that an identity provider
 * started.
 */
export async function endNonSsoSessionsOfUsers(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number | null,
  userIds: readonly number[],
): Promise<void> {
  const ended = await tx
    .deleteFrom('sessions')
    .where((eb) => inList(tx, eb.ref('user_id'), userIds))
    .where('method', '<>', SSO_METHOD)
    .returning(['id', 'user_id'])
    .execute();
  await recordSessionsEnded(tx, by, organizationId, ended);
}

/**
 * Ends all sessions of a user, for an operator.
 * @returns the number of ended sessions
 * @throws DomainError `not-found` for the user
 */
export async function endUserSessions(tx: Transaction, by: ChangeContext, userId: number): Promise<number> {
  const user = await tx
    .selectFrom('users')
    .select('organization_id')
    .where('id', '=', userId)
    .executeTakeFirst();
  if (user === undefined) throw notFound('user');
  return endSessions(tx, by, { userId, organizationId: user.organization_id }, null);
}

async function recordSessionsEnded(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number | null,
  ended: readonly { id: string; user_id: number }[],
): Promise<void> {
  if (ended.length === 0) return;
  // Tokens of the console end with their session. Consoles in other sessions get new ones.
  const userIds = [...new Set(ended.map((session) => session.user_id))];
  const consoleTokens = await revokeTokens(tx, by, { clientId: CONSOLE_CLIENT, userIds });
  if (consoleTokens.length > 0) await bumpCredentialVersion(tx);
  await recordEvents(
    tx,
    ended.map(({ id, user_id }) => ({
      by,
      change: {
        action: 'session.end',
        object: ['session', id],
        organizationId,
        before: { user: user_id },
        after: null,
      },
    })),
  );
}
