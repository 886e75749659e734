import { sql } from 'kysely';
import type { ChangeContext } from '../../../auth/callers.ts';
import { prepareBatchInsert } from '../../../db/bulk-insert.ts';
import { chunked } from '../../../db/chunks.ts';
import type { Transaction } from '../../../db/database.ts';
import { inList, itemInteger, itemText, jsonRowsTable } from '../../../db/dialect-sql.ts';
import { recordEventForEach, recordEvents } from '../../audit/record-event.ts';
import { insertDeltas, DeltaAccumulator } from '../../shared/counters.ts';
import { isClosed } from '../../shared/statuses-and-severities.ts';
import { dayNumber } from '../../shared/vulnerability-buckets.ts';
import { BULK_CHUNK_ROWS, EVENT_CHUNK_ROWS, type MutableFields } from '../lock-vulnerability.ts';
import { recordTimelineForEach, recordTimelineEntries } from '../timeline.ts';
import { assetCounterDeltas, counterDeltas } from '../counter-deltas.ts';
import { insertVulnerabilityTags, loadLinkedIds } from '../insert-vulnerabilities.ts';
import {
  auditedChange,
  EDITED_FIELDS,
  type FieldChange,
  memoizeTagSnapshots,
  type TagSnapshots,
  timelineEntriesOf,
} from './field-changes.ts';

/**
 * Writes field changes with their counters, timelines and audit events.
 * @param changes changes of distinct vulnerabilities, each with a difference
 * @param tagNames the names of all tags before and after
 */
export async function writeFieldChanges(
  tx: Transaction,
  by: ChangeContext,
  changes: readonly FieldChange[],
  tagNames: ReadonlyMap<number, string>,
): Promise<void> {
  const tagsOf = memoizeTagSnapshots(tagNames);
  const { alike, ungrouped } = groupEqualChanges(changes);
  for (const group of alike) await writeGroup(tx, by, group, tagsOf);
  for (const chunk of chunked(ungrouped, EVENT_CHUNK_ROWS)) {
    await updateRows(tx, by, chunk);
    await updateTags(tx, chunk);
    await recordTimelineEntries(
      tx,
      by,
      chunk.flatMap((change) => timelineEntriesOf(change, tagsOf)),
    );
    await recordEvents(
      tx,
      chunk.map((change) => ({ by, change: auditedChange(change) })),
    );
  }
  const sums = new DeltaAccumulator();
  for (const chunk of chunked(changes, BULK_CHUNK_ROWS)) await accumulateDeltas(tx, chunk, sums);
  // Thousands of changes share few counters. Last, because it locks the assets whose number of open vulnerabilities
  // changes.
  for (const rows of chunked(sums.rows(), BULK_CHUNK_ROWS)) await insertDeltas(tx, rows);
}

/** Smallest group that is written by set-based statements. */
const MIN_GROUP_SIZE = 20;

/** @returns groups of equal changes, and the changes that are in no large group */
function groupEqualChanges(changes: readonly FieldChange[]): {
  alike: FieldChange[][];
  ungrouped: FieldChange[];
} {
  const groups = new Map<string, FieldChange[]>();
  for (const change of changes) {
    const key = changeKey(change);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [change]);
    else group.push(change);
  }
  const all = [...groups.values()];
  return {
    alike: all.filter(({ length }) => length >= MIN_GROUP_SIZE),
    ungrouped: all.filter(({ length }) => length < MIN_GROUP_SIZE).flat(),
  };
}

/** @returns a key that equal changes share */
function changeKey({ locked: { organizationId, draft, fields }, after }: FieldChange): string {
  let text = `${organizationId} ${draft}`;
  if (fields.statusId !== after.statusId)
    text += ` status ${fields.statusId} ${after.statusId} ${after.statusSetAt} ${after.closedAt}`;
  for (const [name, member] of EDITED_FIELDS)
    if (fields[member] !== after[member])
      text += ` ${name} ${JSON.stringify([fields[member], after[member]])}`;
  const [tags, tagsAfter] = [String(fields.tags), String(after.tags)];
  return tags === tagsAfter ? text : `${text} tags ${tags} ${tagsAfter}`;
}

const insertTaggingForEach = prepareBatchInsert(
  'vulnerability_taggings',
  { organization_id: 'int', tag_id: 'int' },
  { column: 'vulnerability_id', kind: 'int' },
);

/**
 * Writes equal changes with statements that send the shared values once per chunk: indexes of unchanged columns stay
 * untouched, and snapshots are not repeated for each row.
 */
async function writeGroup(
  tx: Transaction,
  by: ChangeContext,
  group: readonly FieldChange[],
  tagsOf: TagSnapshots,
): Promise<void> {
  const [first] = group as [FieldChange];
  const { organizationId, fields } = first.locked;
  const { after } = first;
  const removed = fields.tags.filter((tag) => !after.tags.includes(tag));
  const added = after.tags.filter((tag) => !fields.tags.includes(tag));
  for (const chunk of chunked(group, BULK_CHUNK_ROWS)) {
    const ids = chunk.map(({ locked }) => locked.id);
    await tx
      .updateTable('vulnerabilities')
      .set((eb) => ({
        ...changedColumns(first),
        updated_at: by.now,
        version: eb('version', '+', eb.lit(1)),
      }))
      .where(({ ref }) => inList(tx, ref('id'), ids))
      .execute();
    if (removed.length > 0)
      await tx
        .deleteFrom('vulnerability_taggings')
        .where(({ ref }) => inList(tx, ref('vulnerability_id'), ids))
        .where(({ ref }) => inList(tx, ref('tag_id'), removed))
        .execute();
    for (const tag of added) await insertTaggingForEach(tx, [organizationId, tag], ids);
    for (const entry of timelineEntriesOf(first, tagsOf)) await recordTimelineForEach(tx, by, entry, ids);
    await recordEventForEach(tx, by, auditedChange(first), ids);
  }
}

function changedColumns({ locked: { fields }, after }: FieldChange) {
  return {
    ...(fields.statusId === after.statusId
      ? {}
      : { status_id: after.statusId, status_set_at: after.statusSetAt, closed_at: after.closedAt }),
    ...(fields.severity === after.severity ? {} : { severity: after.severity }),
    ...(fields.assigneeId === after.assigneeId ? {} : { assignee_id: after.assigneeId }),
    ...(fields.dueOn === after.dueOn ? {} : { due_on: after.dueOn }),
  };
}

async function updateRows(
  tx: Transaction,
  { now }: ChangeContext,
  changes: readonly FieldChange[],
): Promise<void> {
  const rows = changes.map(({ locked: { id }, after }) => [
    id,
    after.statusId,
    after.statusSetAt,
    after.closedAt,
    after.severity,
    after.assigneeId,
    after.dueOn,
  ]);
  await sql`update vulnerabilities set status_id = ${itemInteger(1)}, status_set_at = ${itemInteger(2)}, closed_at = ${itemInteger(3)},
      severity = ${itemText(4)}, assignee_id = ${itemInteger(5)}, due_on = ${itemText(6)}, updated_at = ${now}, version = version + 1
    from ${jsonRowsTable(tx, rows)} where vulnerabilities.id = ${itemInteger(0)}`.execute(tx);
}

async function updateTags(tx: Transaction, changes: readonly FieldChange[]): Promise<void> {
  const removed: [number, number][] = [];
  const added: [number, number, number][] = [];
  for (const { locked, after } of changes) {
    const { id, organizationId, fields } = locked;
    for (const tag of fields.tags) if (!after.tags.includes(tag)) removed.push([id, tag]);
    for (const tag of after.tags) if (!fields.tags.includes(tag)) added.push([organizationId, id, tag]);
  }
  if (removed.length > 0) {
    await sql`delete from vulnerability_taggings where (vulnerability_id, tag_id) in (
      select cast(item.value ->> 0 as bigint), cast(item.value ->> 1 as bigint) from ${jsonRowsTable(tx, removed)})`.execute(
      tx,
    );
  }
  await insertVulnerabilityTags(tx, added);
}

/** Accumulates counter deltas, once for equal changes. */
async function accumulateDeltas(
  tx: Transaction,
  changes: readonly FieldChange[],
  sums: DeltaAccumulator,
): Promise<void> {
  const moved = changes.filter(
    ({ locked, after }) => isClosed(locked.fields.statusId) !== isClosed(after.statusId),
  );
  const ids = moved.map(({ locked }) => locked.id);
  const assets = ids.length === 0 ? new Map() : await loadLinkedIds(tx, 'assets', ids);
  const groups = new Map<string, { change: FieldChange; times: number; assets: number[] }>();
  for (const change of changes) {
    const { locked, after } = change;
    const { fields } = locked;
    const key = JSON.stringify([
      [locked.assessmentId, locked.draft, locked.source, locked.retestStatus === 'requested'],
      [locked.reportedAt, fields.closedAt ?? 0, after.closedAt ?? 0].map(dayNumber),
      [fields.statusId, after.statusId, fields.severity, after.severity],
      [fields.tags, after.tags],
    ]);
    const group = groups.get(key) ?? { change, times: 0, assets: [] };
    groups.set(key, group);
    group.times += 1;
    group.assets.push(...(assets.get(locked.id) ?? []));
  }
  for (const { change, times, assets: ofAll } of groups.values()) {
    const { locked, after } = change;
    const { fields } = locked;
    const counted = (
      { statusId, closedAt, severity, tags }: MutableFields,
      otherTags: readonly number[],
    ) => ({
      organizationId: locked.organizationId,
      assessmentId: locked.assessmentId,
      statusId,
      severity,
      draft: locked.draft,
      source: locked.source,
      reportedAt: locked.reportedAt,
      closedAt,
      retestStatus: locked.retestStatus,
      tags: tags.filter((tag) => !otherTags.includes(tag)),
      assets: [],
    });
    sums.add(counterDeltas(counted(fields, after.tags), counted(after, fields.tags)), times);
    const countedAssets = ({ statusId }: MutableFields) => ({ statusId, draft: locked.draft, assets: ofAll });
    sums.add(assetCounterDeltas(countedAssets(fields), countedAssets(after)));
  }
}
