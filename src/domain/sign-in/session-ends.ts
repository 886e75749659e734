import type { Actor } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { recordChange } from '../shared/audit.ts';
import { missing } from '../shared/failure.ts';

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
  actor: Actor,
  user: SessionOwner,
  sessionId: string,
  now: number,
): Promise<void> {
  if (!(await endSessionIfAny(tx, actor, user, sessionId, now))) throw missing('session');
}

/** The same for a session that may have ended already. @returns whether it was there */
export async function endSessionIfAny(
  tx: Transaction,
  actor: Actor,
  user: SessionOwner,
  sessionId: string,
  now: number,
): Promise<boolean> {
  const ended = await tx
    .deleteFrom('sessions')
    .where('id', '=', sessionId)
    .where('user_id', '=', user.userId)
    .returning('id')
    .executeTakeFirst();
  if (ended === undefined) return false;
  await recordEnd(tx, actor, user, [ended.id], now);
  return true;
}

/**
 * Ends every session of a user.
 * @param except the one that stays; `null` for none
 * @returns how many ended
 */
export async function endSessions(
  tx: Transaction,
  actor: Actor,
  user: SessionOwner,
  except: string | null,
  now: number,
): Promise<number> {
  let query = tx.deleteFrom('sessions').where('user_id', '=', user.userId);
  if (except !== null) query = query.where('id', '<>', except);
  const ended = await query.returning('id').execute();
  await recordEnd(
    tx,
    actor,
    user,
    ended.map(({ id }) => id),
    now,
  );
  return ended.length;
}

/**
 * Ends every session of a user, for an operator.
 * @returns how many ended
 * @throws Failure `missing` for an unknown user
 */
export async function endSessionsOf(
  tx: Transaction,
  actor: Actor,
  userId: number,
  now: number,
): Promise<number> {
  const user = await tx
    .selectFrom('users')
    .select('organization_id')
    .where('id', '=', userId)
    .executeTakeFirst();
  if (user === undefined) throw missing('user');
  return endSessions(tx, actor, { userId, organizationId: user.organization_id }, null, now);
}

async function recordEnd(
  tx: Transaction,
  actor: Actor,
  user: SessionOwner,
  sessionIds: readonly string[],
  now: number,
): Promise<void> {
  for (const id of sessionIds) {
    await recordChange(tx, actor, {
      at: now,
      action: 'session.end',
      object: ['session', id],
      organizationId: user.organizationId,
      before: { user: user.userId },
      after: null,
    });
  }
}
