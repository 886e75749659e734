import { type SqlBool, sql } from 'kysely';
import type { Act } from '../../auth/callers.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { eachList, holdingRows, isOneOf } from '../../db/portable.ts';
import { countedPorts } from '../assets/ports.ts';
import { recordChanges } from '../shared/audit.ts';
import { addTallies, addTallyRows, forgetTallies, TallySums } from '../shared/tallies.ts';
import { statusTold } from '../vulnerabilities/reached-vulnerabilities.ts';
import { recordTimelines } from '../vulnerabilities/timeline.ts';
import { tallyDifferences } from '../vulnerabilities/vulnerability-tallies.ts';
import { linkedAssets, linkedTags } from './linked-things.ts';

/** An import that is taken back. */
export interface UndoneImport {
  id: number;
  organizationId: number;
  assessmentId: number | null;
  /** When it was uploaded, in milliseconds since 1970. */
  createdAt: number;
}

/** What a unit of work took back and left, and behind which id the next begins; `null` at the end. */
export interface UndoStep {
  last: number | null;
  done: number;
  kept: number;
}

export async function findUndone(db: Reader, id: number): Promise<UndoneImport | undefined> {
  const row = await db
    .selectFrom('imports')
    .select(['organization_id', 'assessment_id', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  return (
    row && {
      id,
      organizationId: row.organization_id,
      assessmentId: row.assessment_id,
      createdAt: row.created_at,
    }
  );
}

const stepOf = (
  rows: readonly unknown[],
  limit: number,
  last: number | undefined,
  done: number,
): UndoStep => ({
  last: rows.length < limit ? null : (last ?? null),
  done,
  kept: rows.length - done,
});

/** Sets back statuses that it set and nobody and no other import has changed or confirmed since. */
export async function undoStatuses(
  tx: Transaction,
  { id, organizationId }: UndoneImport,
  { actor, now }: Act,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const rows = await tx
    .selectFrom('import_statuses as status')
    .innerJoin('vulnerabilities as finding', 'finding.id', 'status.vulnerability_id')
    .innerJoin('scanner_findings as seen', 'seen.vulnerability_id', 'status.vulnerability_id')
    .select([
      'finding.id',
      'finding.assessment_id',
      'finding.severity',
      'finding.status_id',
      'finding.status_set_at',
      'status.before',
      'status.after',
      'status.set_at',
      'status.status_set_at as before_set_at',
      'status.closed_at',
      'seen.last_import_id',
      'seen.gone_import_id',
    ])
    .where('status.import_id', '=', id)
    .where('status.vulnerability_id', '>', after)
    // What it made is taken away, or stays as it is.
    .where(sql<SqlBool>`(finding.import_id is null or finding.import_id <> ${id})`)
    .orderBy('status.vulnerability_id')
    .limit(limit)
    .modifyEnd(holdingRows(tx, 'finding'))
    .execute();
  const back = rows.filter(
    (row) =>
      row.status_id === row.after &&
      row.status_set_at === row.set_at &&
      (row.last_import_id === id || row.gone_import_id === id),
  );
  if (back.length > 0) {
    const int = (index: number) => sql<number>`cast(item.value ->> ${sql.lit(index)} as bigint)`;
    const values = back.map((row) => [row.id, row.before, row.before_set_at, row.closed_at]);
    await sql`update vulnerabilities set status_id = ${int(1)}, status_set_at = ${int(2)}, closed_at = ${int(3)},
        updated_at = ${now}, version = version + 1
      from ${eachList(tx, values)} where vulnerabilities.id = ${int(0)}`.execute(tx);
    const assets = await linkedAssets(
      tx,
      back.map((row) => row.id),
    );
    const sums = new TallySums();
    for (const row of back) {
      const counted = (statusId: number) => ({
        organizationId,
        assessmentId: row.assessment_id,
        statusId,
        severity: row.severity,
        tags: [],
        assets: assets.get(row.id) ?? [],
      });
      sums.add(tallyDifferences(counted(row.status_id), counted(row.before)));
    }
    await addTallyRows(tx, sums.rows());
    await recordTimelines(
      tx,
      { actor, now },
      back.map((row) => ({
        organizationId,
        vulnerabilityId: row.id,
        kind: 'status',
        before: statusTold(row.status_id),
        after: statusTold(row.before),
      })),
    );
    await tx
      .deleteFrom('import_statuses')
      .where('import_id', '=', id)
      .where((eb) =>
        isOneOf(
          tx,
          eb.ref('vulnerability_id'),
          back.map((row) => row.id),
        ),
      )
      .execute();
  }
  return stepOf(rows, limit, rows.at(-1)?.id, back.length);
}

/** Takes away findings that it made and that nobody has touched and no other import has seen since. */
export async function undoFindings(
  tx: Transaction,
  { id, organizationId }: UndoneImport,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const rows = await tx
    .selectFrom('vulnerabilities')
    .select(['id', 'assessment_id', 'severity', 'status_id'])
    .where('import_id', '=', id)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .modifyEnd(holdingRows(tx))
    .execute();
  const ids = rows.map((row) => row.id);
  const untouched = await tx
    .selectFrom('scanner_findings')
    .select('vulnerability_id')
    .where((eb) => isOneOf(tx, eb.ref('vulnerability_id'), ids))
    .where('last_import_id', '=', id)
    // What an import does is told with its number.
    .where(
      sql<SqlBool>`not exists (select 1 from timeline_entries as entry
        where entry.vulnerability_id = scanner_findings.vulnerability_id and entry.kind not in ('seen', 'gone')
          and not (entry.kind = 'status' and entry.after like '%"import_id":%'))`,
    )
    .execute();
  const isUntouched = new Set(untouched.map((row) => row.vulnerability_id));
  const gone = rows.filter((row) => isUntouched.has(row.id));
  if (gone.length > 0) {
    const goneIds = gone.map((row) => row.id);
    const [assets, tags] = [await linkedAssets(tx, goneIds), await linkedTags(tx, goneIds)];
    const sums = new TallySums();
    for (const row of gone)
      sums.add(
        tallyDifferences(
          {
            organizationId,
            assessmentId: row.assessment_id,
            statusId: row.status_id,
            severity: row.severity,
            tags: tags.get(row.id) ?? [],
            assets: assets.get(row.id) ?? [],
          },
          null,
        ),
      );
    await tx
      .deleteFrom('vulnerabilities')
      .where((eb) => isOneOf(tx, eb.ref('id'), goneIds))
      .execute();
    await addTallyRows(tx, sums.rows());
  }
  return stepOf(rows, limit, ids.at(-1), gone.length);
}

/** @returns the highest id that a finding of a scanner has */
export async function lastFinding(db: Reader): Promise<number> {
  const row = await db
    .selectFrom('scanner_findings')
    .select(({ fn }) => fn.max('vulnerability_id').as('last'))
    .executeTakeFirst();
  return row?.last ?? 0;
}

/** Has findings that stand be seen, and gone, as they were before it. @param to the ids behind `after` up to it */
export async function undoSightings(
  tx: Transaction,
  { id, assessmentId }: UndoneImport,
  after: number,
  to: number,
): Promise<void> {
  const some = sql<SqlBool>`assessment_id = ${assessmentId} and vulnerability_id > ${after} and vulnerability_id <= ${to}`;
  await tx
    .updateTable('scanner_findings')
    .set((eb) => ({
      last_seen_at: eb.fn.coalesce('prior_seen_at', 'last_seen_at'),
      last_import_id: eb.fn.coalesce('prior_import_id', 'last_import_id'),
      prior_seen_at: null,
      prior_import_id: null,
    }))
    .where(some)
    .where('last_import_id', '=', id)
    .where('prior_import_id', 'is not', null)
    .execute();
  await tx
    .updateTable('scanner_findings')
    .set({ gone_at: null, gone_import_id: null })
    .where(some)
    .where('gone_import_id', '=', id)
    .execute();
}

/** Forgets what it covered. */
export async function undoCoverage(tx: Transaction, { id, assessmentId }: UndoneImport): Promise<void> {
  if (assessmentId === null) return;
  await tx
    .deleteFrom('import_coverage')
    .where('assessment_id', '=', assessmentId)
    .where('import_id', '=', id)
    .execute();
}

/** Takes away assets that it made and that nothing else knows by now. */
export async function undoAssets(
  tx: Transaction,
  { id, organizationId, assessmentId, createdAt }: UndoneImport,
  act: Act,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const made = await tx
    .selectFrom('assets')
    .selectAll()
    .where('import_id', '=', id)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .modifyEnd(holdingRows(tx))
    .execute();
  const ids = made.map((row) => row.id);
  const { rows: alone } = await sql<{ id: number }>`select assets.id from assets
    where ${isOneOf(tx, sql.ref<number>('assets.id'), ids)}
      and assets.version = 1 and coalesce(assets.last_seen, 0) <= ${createdAt}
      and not exists (select 1 from vulnerability_assets as link where link.asset_id = assets.id)
      and not exists (select 1 from asset_taggings as tagging where tagging.asset_id = assets.id)
      and not exists (select 1 from listing_assets as listed where listed.asset_id = assets.id
        and not (listed.assessment_id = ${assessmentId ?? 0} and listed.scope_rules = '[]'))
      and not exists (select 1 from port_events as event where event.asset_id = assets.id
        and (event.import_id is null or event.import_id <> ${id}))`.execute(tx);
  const isAlone = new Set(alone.map((row) => row.id));
  const gone = made.filter((row) => isAlone.has(row.id));
  for (const row of gone) {
    await forgetTallies(tx, 'asset', row.id);
    await addTallies(tx, await countedPorts(tx, row.id, -1));
  }
  if (gone.length > 0)
    await tx
      .deleteFrom('assets')
      .where((eb) => isOneOf(tx, eb.ref('id'), [...isAlone]))
      .execute();
  await recordChanges(
    tx,
    gone.map(({ uid, type, location, name }) => ({
      act,
      change: {
        action: 'asset.delete',
        object: ['asset', uid],
        organizationId,
        before: { type, location, name, import_id: id },
        after: null,
      },
    })),
  );
  return stepOf(made, limit, ids.at(-1), gone.length);
}
