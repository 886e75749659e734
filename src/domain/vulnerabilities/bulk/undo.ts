import type { ChangeContext, Caller } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/database.ts';
import { inList } from '../../../db/dialect-sql.ts';
import type { Severity } from '../../shared/statuses-and-severities.ts';
import { invalidInput } from '../../shared/errors.ts';
import { permissionByPair } from '../../assessments/nameable-users.ts';
import { lockVulnerabilities, type MutableFields } from '../lock-vulnerability.ts';
import { type FieldChange, hasChanges } from './field-changes.ts';

/** Milliseconds. */
export const UNDO_WINDOW = 3_600_000;

/** A vulnerability, its version after the bulk update, and its fields before. */
type UndoRecord = readonly [
  id: number,
  version: number,
  statusId: number,
  statusSetAt: number,
  closedAt: number | null,
  severity: Severity,
  assigneeId: number | null,
  dueOn: string | null,
  tags: readonly number[],
];

/**
 * Stores the replaced values of a bulk update, in its transaction.
 * @param drafts ids of those that it publishes, which raises their version once more. An undo leaves them published
 */
export async function storeUndo(
  tx: Transaction,
  { actor, now }: ChangeContext,
  changes: readonly FieldChange[],
  drafts: ReadonlySet<number>,
): Promise<void> {
  const replaced = changes.map((change): UndoRecord => {
    const { id, version, fields } = change.locked;
    return [
      id,
      version + (hasChanges(change) ? 1 : 0) + (drafts.has(id) ? 1 : 0),
      fields.statusId,
      fields.statusSetAt,
      fields.closedAt,
      fields.severity,
      fields.assigneeId,
      fields.dueOn,
      fields.tags,
    ];
  });
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
 * Builds the changes that undo a bulk update, for vulnerabilities that are unchanged since and still visible. Does
 * not restore deleted tags, nor assignees who lost access.
 * @param requestId the request of a bulk update by the same account within the last hour
 * @returns the changes, and the size of the bulk update
 * @throws DomainError `invalid` for any other id
 */
export async function buildUndo(
  tx: Transaction,
  { actor, now }: ChangeContext<Caller>,
  requestId: string,
): Promise<{ changes: FieldChange[]; size: number }> {
  const row = await tx
    .selectFrom('bulk_changes')
    .select('replaced')
    .where('request_id', '=', requestId)
    .where('user_id', actor.userId === null ? 'is' : '=', actor.userId)
    .where('changed_at', '>', now - UNDO_WINDOW)
    .executeTakeFirst();
  if (row === undefined)
    throw invalidInput({ property: 'undo', code: 'unknown-bulk-update', value: requestId });
  const replaced = JSON.parse(row.replaced) as UndoRecord[];
  const ids = replaced.map(([id]) => id);
  const locked = await lockVulnerabilities(tx, actor, ids);
  const [tags, hasAccess] = await Promise.all([
    existingTags(tx, [...new Set(replaced.flatMap((record) => record[8]))]),
    permissionByPair(
      tx,
      'assign',
      replaced.flatMap(([id, , , , , , assigneeId]) => {
        const match = locked.get(id);
        return match === undefined || assigneeId === null ? [] : [[match.assessmentId, assigneeId] as const];
      }),
    ),
  ]);
  const changes = replaced.flatMap(
    ([id, version, statusId, statusSetAt, closedAt, severity, assigneeId, dueOn, tagIds]): FieldChange[] => {
      const present = locked.get(id);
      if (present?.version !== version) return [];
      const after: MutableFields = {
        statusId,
        statusSetAt,
        closedAt,
        severity,
        assigneeId: assigneeId !== null && hasAccess(present.assessmentId, assigneeId) ? assigneeId : null,
        dueOn,
        tags: tagIds.filter((tag) => tags.has(tag)),
      };
      return [{ locked: present, after }].filter(hasChanges);
    },
  );
  return { changes, size: replaced.length };
}

async function existingTags(tx: Transaction, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await tx
    .selectFrom('vulnerability_tags')
    .select('id')
    .where(({ ref }) => inList(tx, ref('id'), ids))
    .execute();
  return new Set(rows.map(({ id }) => id));
}
