import type { Attribution } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { recordEvent } from '../audit/record-event.ts';
import { notFound } from '../shared/errors.ts';
import { revokeClientAccessTokens } from '../tokens/revoke-client-tokens.ts';
import { bumpCredentialVersion } from '../tokens/credentials.ts';
import { CONSOLE_CLIENT } from '../tokens/oauth-clients.ts';

/** Whose session it is. */
interface SessionOwner {
  userId: number;
  /** `null` for platform staff. */
  organizationId: number | null;
}

/**
 * Ends one session of a user.
 * @throws Failure `missing` when the user has no such session
 */
export async function endSession(
  tx: Transaction,
  act: Attribution,
  user: SessionOwner,
  sessionId: string,
): Promise<void> {
  if (!(await endSessionIfAny(tx, act, user, sessionId))) throw notFound('session');
}

/** The same for a session that may have ended already. @returns whether it was there */
export async function endSessionIfAny(
  tx: Transaction,
  act: Attribution,
  user: SessionOwner,
  sessionId: string,
): Promise<boolean> {
  const ended = await tx
    .deleteFrom('sessions')
    .where('id', '=', sessionId)
    .where('user_id', '=', user.userId)
    .returning('id')
    .executeTakeFirst();
  if (ended === undefined) return false;
  await recordSessionsEnded(tx, act, user, [ended.id]);
  return true;
}

/**
 * Ends every session of a user.
 * @param except the one that stays; `null` for none
 * @returns how many ended
 */
export async function endSessions(
  tx: Transaction,
  act: Attribution,
  user: SessionOwner,
  except: string | null,
): Promise<number> {
  let query = tx.deleteFrom('sessions').where('user_id', '=', user.userId);
  if (except !== null) query = query.where('id', '<>', except);
  const ended = await query.returning('id').execute();
  await recordSessionsEnded(
    tx,
    act,
    user,
    ended.map(({ id }) => id),
  );
  return ended.length;
}

/**
 * Ends every session of a user, for an operator.
 * @returns how many ended
 * @throws Failure `missing` for an unknown user
 */
export async function endUserSessions(tx: Transaction, act: Attribution, userId: number): Promise<number> {
  const user = await tx
    .selectFrom('users')
    .select('organization_id')
    .where('id', '=', userId)
    .executeTakeFirst();
  if (user === undefined) throw notFound('user');
  return endSessions(tx, act, { userId, organizationId: user.organization_id }, null);
}

async function recordSessionsEnded(
  tx: Transaction,
  act: Attribution,
  user: SessionOwner,
  sessionIds: readonly string[],
): Promise<void> {
  // What the console got by a session does not outlive it; where another one stands, it gets anew.
  if (sessionIds.length > 0 && (await revokeClientAccessTokens(tx, CONSOLE_CLIENT, user.userId, act.now)) > 0)
    await bumpCredentialVersion(tx);
  for (const id of sessionIds) {
    await recordEvent(tx, act, {
      action: 'session.end',
      object: ['session', id],
      organizationId: user.organizationId,
      before: { user: user.userId },
      after: null,
    });
  }
}
