import type { Act, Caller } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import { isOneOf } from '../../../db/dialect-sql.ts';
import { invalid } from '../../shared/errors.ts';
import { accessOfPairs } from '../resolve-references.ts';
import { differs, holdVulnerabilities, type State, type StateChange } from './lock.ts';

/** How long, in milliseconds, a change of many can be undone. */
export const UNDO_FOR = 3_600_000;

/** A vulnerability, the version that the change gave it, and what it was before. */
type Replaced = readonly [
  id: number,
  version: number,
  statusId: number,
  statusSetAt: number,
  closedAt: number | null,
  severity: string,
  assigneeId: number | null,
  dueOn: string | null,
  tags: readonly number[],
];

/** Keeps what a change of many replaced, in its unit of work. */
export async function keepForUndo(
  tx: Transaction,
  { actor, now }: Act,
  changes: readonly StateChange[],
): Promise<void> {
  const replaced = changes.map(({ held: { id, version, state } }): Replaced => [
    id,
    version + 1,
    state.statusId,
    state.statusSetAt,
    state.closedAt,
    state.severity,
    state.assigneeId,
    state.dueOn,
    state.tags,
  ]);
  await tx
    .insertInto('bulk_changes')
    .values({
      request_id: actor.requestId,
      user_id: actor.userId,
      changed_at: now,
      replaced: JSON.stringify(replaced),
    })
    .execute();
}

/**
 * Finds what would set a change of many back: of what nobody has changed since, and is still within reach. Tags that are
 * gone meanwhile stay so, and who has lost access, or is gone, is assigned to nothing.
 * @param requestId of the request that made it, of the same account and within the hour
 * @returns the changes, and how many vulnerabilities the change was of
 * @throws Failure `invalid` for another one
 */
export async function findUndo(
  tx: Transaction,
  { actor, now }: Act<Caller>,
  requestId: string,
): Promise<{ changes: StateChange[]; size: number }> {
  const row = await tx
    .selectFrom('bulk_changes')
    .select('replaced')
    .where('request_id', '=', requestId)
    .where('user_id', actor.userId === null ? 'is' : '=', actor.userId)
    .where('changed_at', '>', now - UNDO_FOR)
    .executeTakeFirst();
  if (row === undefined)
    throw invalid({
      property: 'undo',
      message: 'is not the X-Request-Id of a change of many that you made within the hour',
      value: requestId,
    });
  const replaced = JSON.parse(row.replaced) as Replaced[];
  const ids = replaced.map(([id]) => id);
  const held = await holdVulnerabilities(tx, actor, ids);
  const [tags, hasAccess] = await Promise.all([
    existingTags(tx, [...new Set(replaced.flatMap((one) => one[8]))]),
    accessOfPairs(
      tx,
      replaced.flatMap(([id, , , , , , assigneeId]) => {
        const one = held.get(id);
        return one === undefined || assigneeId === null ? [] : [[one.assessmentId, assigneeId] as const];
      }),
    ),
  ]);
  const changes = replaced.flatMap(
    ([id, version, statusId, statusSetAt, closedAt, severity, assigneeId, dueOn, tagIds]): StateChange[] => {
      const present = held.get(id);
      if (present?.version !== version) return [];
      const after: State = {
        statusId,
        statusSetAt,
        closedAt,
        severity,
        assigneeId: assigneeId !== null && hasAccess(present.assessmentId, assigneeId) ? assigneeId : null,
        dueOn,
        tags: tagIds.filter((tag) => tags.has(tag)),
      };
      return [{ held: present, after }].filter(differs);
    },
  );
  return { changes, size: replaced.length };
}

async function existingTags(tx: Transaction, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await tx
    .selectFrom('vulnerability_tags')
    .select('id')
    .where(({ ref }) => isOneOf(tx, ref('id'), ids))
    .execute();
  return new Set(rows.map(({ id }) => id));
}
