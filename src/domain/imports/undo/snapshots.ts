import { sql } from 'kysely';
import type { Attribution } from '../../../auth/callers.ts';
import { inList, itemInteger, itemText, jsonRowsTable, forNoKeyUpdate } from '../../../db/dialect-sql.ts';
import type { Transaction } from '../../../db/engine.ts';
import { type FindingSnapshot, nextSnapshots } from '../finding-snapshots.ts';
import { findingCounters } from '../import-status-changes.ts';
import { normalizedTextsOf } from '../insert-findings.ts';
import type { ScannerColumns } from '../sighting.ts';
import { type ImportToUndo, undoStep, type UndoStep } from './findings.ts';
import {
  FIELD_OF_COLUMN,
  fieldsEditedByPeople,
  fieldSnapshot,
  lockFindings,
  overwriteFields,
  SCANNER_COLUMNS,
  type ScannerColumn,
} from '../update-findings.ts';
import { DeltaAccumulator, insertDeltas } from '../../shared/counters.ts';
import { recordTimelineEntries, type TimelineEntry } from '../../vulnerabilities/timeline.ts';
import { counterDeltas } from '../../vulnerabilities/vulnerability-counters.ts';
import { lockRows } from '../../shared/lock-rows.ts';

/**
 * Restores the fields that the import overwrote. Fields that a person has edited since stay. If a later import
 * overwrote a field again, its snapshot takes over the restored value.
 */
export async function undoSnapshots(
  tx: Transaction,
  { id, organizationId }: ImportToUndo,
  { actor, now }: Attribution,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const rows = await tx
    .selectFrom('import_finding_snapshots')
    .innerJoin(
      'scanner_findings as seen',
      'seen.vulnerability_id',
      'import_finding_snapshots.vulnerability_id',
    )
    .select([
      'seen.vulnerability_id as id',
      'before',
      'content_hash as content',
      'first_seen_at',
      'last_import_id',
      'gone_at',
      'gone_import_id',
    ])
    .where('import_id', '=', id)
    .where('import_finding_snapshots.vulnerability_id', '>', after)
    .orderBy('import_finding_snapshots.vulnerability_id')
    .limit(limit)
    .execute();
  const ids = rows.map((row) => row.id);
  const locked = new Map((await lockFindings(tx, { ids })).map((row) => [row.id, row]));
  const [edited, next] = [await fieldsEditedByPeople(tx, ids), await nextSnapshots(tx, id, ids)];
  const updates: (string | number | null)[][] = [];
  const entries: TimelineEntry[] = [];
  const sightings: (string | number | null)[][] = [];
  const mergedSnapshots: (string | number)[][] = [];
  const sums = new DeltaAccumulator();
  let kept = 0;
  const snapshots = rows.map((row) => ({ ...row, before: JSON.parse(row.before) as FindingSnapshot }));
  await lockRows(
    tx,
    'assets',
    snapshots.flatMap(({ before: { linked } }) => linked ?? []),
    forNoKeyUpdate,
  );
  for (const { id: finding, before, ...seen } of snapshots) {
    const row = locked.get(finding);
    if (row === undefined) continue;
    const editedByPeople = edited.get(finding);
    const later = next.get(finding);
    const overwritten = Object.keys(before.columns ?? {}) as ScannerColumn[];
    const restorable = overwritten.filter((column) => editedByPeople?.has(FIELD_OF_COLUMN[column]) !== true);
    if (restorable.length < overwritten.length) kept += 1;
    const back = restorable.filter(
      (column) => later?.before.columns?.[column] === undefined && before.columns?.[column] !== row[column],
    );
    const values: ScannerColumns = {
      ...row,
      ...Object.fromEntries(back.map((column) => [column, before.columns?.[column] ?? null])),
    };
    if (back.length > 0) {
      updates.push([
        finding,
        ...SCANNER_COLUMNS.map((column) => values[column]),
        ...normalizedTextsOf(values),
      ]);
      entries.push({
        organizationId,
        vulnerabilityId: finding,
        kind: 'seen',
        before: fieldSnapshot(row, back.filter(isInTimeline)),
        after: fieldSnapshot(values, back.filter(isInTimeline)),
      });
    }
    if (back.includes('severity'))
      sums.add(
        counterDeltas(
          findingCounters({ organizationId }, row),
          findingCounters({ organizationId }, { ...row, severity: values.severity }),
        ),
      );
    if (before.linked !== undefined && (await unlinkAsset(tx, finding, before.linked)))
      sums.add(
        counterDeltas(
          findingCounters({ organizationId }, { ...row, severity: values.severity }, [before.linked]),
          findingCounters({ organizationId }, { ...row, severity: values.severity }),
        ),
      );
    const isOwnMark = seen.gone_import_id === id || (seen.last_import_id === id && seen.gone_at === null);
    const gone = isOwnMark && before.gone !== undefined ? before.gone : [seen.gone_at, seen.gone_import_id];
    sightings.push([
      finding,
      later?.before.content === undefined ? (before.content ?? seen.content) : seen.content,
      later?.before.firstSeenAt === undefined
        ? (before.firstSeenAt ?? seen.first_seen_at)
        : seen.first_seen_at,
      ...gone,
    ]);
    if (later !== undefined)
      mergedSnapshots.push([
        later.importId,
        finding,
        JSON.stringify(mergeIntoNextSnapshot(before, later.before, restorable)),
      ]);
  }
  await overwriteFields(tx, updates, now);
  await recordTimelineEntries(tx, { actor, now }, entries);
  await restoreSightings(tx, id, sightings);
  await replaceSnapshots(tx, mergedSnapshots);
  await insertDeltas(tx, sums.rows());
  await tx
    .deleteFrom('import_finding_snapshots')
    .where('import_id', '=', id)
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .execute();
  return { ...undoStep(rows, limit, ids.at(-1), rows.length), kept };
}

/** The timeline does not show evidence. */
const isInTimeline = (column: ScannerColumn): boolean => column !== 'http_requests';

/** The next import overwrote values of this one; its undo must restore those from before both. */
function mergeIntoNextSnapshot(
  before: FindingSnapshot,
  later: FindingSnapshot,
  restorable: readonly ScannerColumn[],
): FindingSnapshot {
  const columns = { ...later.columns };
  for (const column of restorable)
    if (columns[column] !== undefined) Object.assign(columns, { [column]: before.columns?.[column] });
  return {
    ...later,
    ...(later.columns === undefined ? {} : { columns }),
    ...(later.content === undefined || before.content === undefined ? {} : { content: before.content }),
    ...(later.firstSeenAt === undefined || before.firstSeenAt === undefined
      ? {}
      : { firstSeenAt: before.firstSeenAt }),
  };
}

/** @returns whether the asset was still linked */
async function unlinkAsset(tx: Transaction, finding: number, asset: number): Promise<boolean> {
  const removed = await tx
    .deleteFrom('vulnerability_assets')
    .where('vulnerability_id', '=', finding)
    .where('asset_id', '=', asset)
    .returning('asset_id')
    .execute();
  return removed.length > 0;
}

/**
 * Restores sighting columns. A gone mark by an import that is undone is attributed to this one, whose marks
 * `undoSightings` removes later.
 * @param rows id, content hash, first seen, gone at, gone by import
 */
async function restoreSightings(
  tx: Transaction,
  id: number,
  rows: readonly (string | number | null)[][],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`update scanner_findings set content_hash = ${itemText(1)}, first_seen_at = ${itemInteger(2)}, gone_at = ${itemInteger(3)},
      gone_import_id = case when exists (select 1 from imports where imports.id = ${itemInteger(4)} and undone is not null)
        then ${id} else ${itemInteger(4)} end
    from ${jsonRowsTable(tx, rows)} where vulnerability_id = ${itemInteger(0)}`.execute(tx);
}

/** @param rows import, finding, snapshot */
async function replaceSnapshots(tx: Transaction, rows: readonly (string | number)[][]): Promise<void> {
  if (rows.length === 0) return;
  await sql`update import_finding_snapshots set before = ${itemText(2)}
    from ${jsonRowsTable(tx, rows)} where import_id = ${itemInteger(0)} and vulnerability_id = ${itemInteger(1)}`.execute(
    tx,
  );
}
