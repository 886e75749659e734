import { sql } from 'kysely';
import type { Act } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import { eachList, isOneOf } from '../../../db/dialect-sql.ts';
import { addTallyRows, TallySums } from '../../shared/counters.ts';
import { recordTimelines, type TimelineEntry } from '../../vulnerabilities/timeline.ts';
import { tallyDifferences } from '../../vulnerabilities/vulnerability-counters.ts';
import {
  type Column,
  COLUMNS,
  editedFields,
  FIELDS,
  holdFindings,
  overwrite,
  toldOf,
} from '../update-findings.ts';
import { type FindingBefore, nextChanges } from '../finding-snapshots.ts';
import { stepOf, type UndoneImport, type UndoStep } from './findings.ts';
import { keysOf } from '../insert-findings.ts';
import { countedOf } from '../set-statuses.ts';
import type { SightedColumns } from '../sighting.ts';

/**
 * Gives findings that stand back what it overwrote: what a person changed since stays, and what a later import overwrote
 * again is what an undo of that one gives back.
 */
export async function undoChanges(
  tx: Transaction,
  { id, organizationId }: UndoneImport,
  { actor, now }: Act,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const rows = await tx
    .selectFrom('import_changes')
    .innerJoin('scanner_findings as seen', 'seen.vulnerability_id', 'import_changes.vulnerability_id')
    .select([
      'seen.vulnerability_id as id',
      'before',
      'content',
      'first_seen_at',
      'last_import_id',
      'gone_at',
      'gone_import_id',
    ])
    .where('import_id', '=', id)
    .where('import_changes.vulnerability_id', '>', after)
    .orderBy('import_changes.vulnerability_id')
    .limit(limit)
    .execute();
  const ids = rows.map((row) => row.id);
  const held = new Map((await holdFindings(tx, { ids })).map((row) => [row.id, row]));
  const [edited, next] = [await editedFields(tx, ids), await nextChanges(tx, id, ids)];
  const updates: (string | number | null)[][] = [];
  const entries: TimelineEntry[] = [];
  const sightings: (string | number | null)[][] = [];
  const handedOn: (string | number)[][] = [];
  const sums = new TallySums();
  let kept = 0;
  for (const { id: finding, before: text, ...seen } of rows) {
    const row = held.get(finding);
    if (row === undefined) continue;
    const before = JSON.parse(text) as FindingBefore;
    const own = edited.get(finding);
    const later = next.get(finding);
    const wanted = Object.keys(before.columns ?? {}) as Column[];
    const free = wanted.filter((column) => own?.has(FIELDS[column]) !== true);
    if (free.length < wanted.length) kept += 1;
    const back = free.filter(
      (column) => later?.before.columns?.[column] === undefined && before.columns?.[column] !== row[column],
    );
    const values: SightedColumns = {
      ...row,
      ...Object.fromEntries(back.map((column) => [column, before.columns?.[column] ?? null])),
    };
    if (back.length > 0) {
      updates.push([finding, ...COLUMNS.map((column) => values[column]), ...keysOf(values)]);
      entries.push({
        organizationId,
        vulnerabilityId: finding,
        kind: 'seen',
        before: toldOf(row, back.filter(isTold)),
        after: toldOf(values, back.filter(isTold)),
      });
    }
    if (back.includes('severity'))
      sums.add(
        tallyDifferences(
          countedOf({ organizationId }, row),
          countedOf({ organizationId }, { ...row, severity: values.severity }),
        ),
      );
    if (before.linked !== undefined && (await unlink(tx, finding, before.linked)))
      sums.add(
        tallyDifferences(
          countedOf({ organizationId }, { ...row, severity: values.severity }, [before.linked]),
          countedOf({ organizationId }, { ...row, severity: values.severity }),
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
      handedOn.push([later.importId, finding, JSON.stringify(handOn(before, later.before, free))]);
  }
  await overwrite(tx, updates, now);
  await recordTimelines(tx, { actor, now }, entries);
  await setSightings(tx, id, sightings);
  await setBefore(tx, handedOn);
  await addTallyRows(tx, sums.rows());
  await tx
    .deleteFrom('import_changes')
    .where('import_id', '=', id)
    .where((eb) => isOneOf(tx, eb.ref('vulnerability_id'), ids))
    .execute();
  return { ...stepOf(rows, limit, ids.at(-1), rows.length), kept };
}

/** Evidence is told of by nobody. */
const isTold = (column: Column): boolean => column !== 'http_requests';

/** What the next import overwrote was this one's; now it is what was there before it. */
function handOn(before: FindingBefore, later: FindingBefore, free: readonly Column[]): FindingBefore {
  const columns = { ...later.columns };
  for (const column of free)
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

/** @returns whether it was linked still */
async function unlink(tx: Transaction, finding: number, asset: number): Promise<boolean> {
  const removed = await tx
    .deleteFrom('vulnerability_assets')
    .where('vulnerability_id', '=', finding)
    .where('asset_id', '=', asset)
    .returning('asset_id')
    .execute();
  return removed.length > 0;
}

const int = (index: number) => sql<number>`cast(item.value ->> ${sql.lit(index)} as bigint)`;
const text = (index: number) => sql<string>`item.value ->> ${sql.lit(index)}`;

/**
 * A mark of an import that is undone becomes one of this, whose marks are taken back after this (`undoSightings`).
 * @param rows the id, the digest, when it was first seen, when it was gone and by which import
 */
async function setSightings(
  tx: Transaction,
  id: number,
  rows: readonly (string | number | null)[][],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`update scanner_findings set content = ${text(1)}, first_seen_at = ${int(2)}, gone_at = ${int(3)},
      gone_import_id = case when exists (select 1 from imports where imports.id = ${int(4)} and undone is not null)
        then ${id} else ${int(4)} end
    from ${eachList(tx, rows)} where vulnerability_id = ${int(0)}`.execute(tx);
}

/** @param rows the import, the finding and what it was before that */
async function setBefore(tx: Transaction, rows: readonly (string | number)[][]): Promise<void> {
  if (rows.length === 0) return;
  await sql`update import_changes set before = ${text(2)}
    from ${eachList(tx, rows)} where import_id = ${int(0)} and vulnerability_id = ${int(1)}`.execute(tx);
}
