import { type SqlBool, sql } from 'kysely';
import type { Attribution } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import { forNoKeyUpdate, inList } from '../../../db/dialect-sql.ts';
import { insertDeltas, DeltaAccumulator } from '../../shared/counters.ts';
import { STATUS } from '../../shared/statuses-and-severities.ts';
import { changeStatuses } from '../../vulnerabilities/change-status.ts';
import type { ImportOptions } from '../import-types.ts';
import { undoStep, type ImportToUndo, type UndoStep } from './findings.ts';
import { coverageByOthers, type SeenFinding } from './sightings.ts';

/** Restores the statuses that the import set, unless a person or another import has changed or confirmed them since. */
export async function undoStatuses(
  tx: Transaction,
  target: ImportToUndo,
  { actor, now }: Attribution,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const { id, organizationId } = target;
  const rows = await tx
    .selectFrom('import_status_changes as status')
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
      'seen.last_seen_at',
      'seen.source',
      'seen.cover_key',
      'seen.cover_host',
      'seen.cover_ports',
    ])
    .where('status.import_id', '=', id)
    .where('status.vulnerability_id', '>', after)
    // Findings that the import created are either deleted or left as they are.
    .where(sql<SqlBool>`(finding.import_id is null or finding.import_id <> ${id})`)
    .orderBy('status.vulnerability_id')
    .limit(limit)
    .modifyEnd(forNoKeyUpdate(tx, 'finding'))
    .execute();
  const fixedByOthers = await fixedByLaterReports(tx, target, rows);
  const restorable = rows.filter(
    (row) =>
      row.status_id === row.after &&
      row.status_set_at === row.set_at &&
      (row.after === STATUS.fixed ? !fixedByOthers.has(row.id) : row.last_import_id === id),
  );
  if (restorable.length > 0) {
    const sums = new DeltaAccumulator();
    sums.add(
      await changeStatuses(
        tx,
        { actor, now },
        restorable.map((row) => ({
          id: row.id,
          organizationId,
          assessmentId: row.assessment_id,
          severity: row.severity,
          before: row.status_id,
          after: row.before,
          statusSetAt: row.before_set_at,
          closedAt: row.closed_at,
        })),
      ),
    );
    await insertDeltas(tx, sums.rows());
    await tx
      .deleteFrom('import_status_changes')
      .where('import_id', '=', id)
      .where((eb) =>
        inList(
          tx,
          eb.ref('vulnerability_id'),
          restorable.map((row) => row.id),
        ),
      )
      .execute();
  }
  return undoStep(rows, limit, rows.at(-1)?.id, restorable.length);
}

/** @returns the ids of findings that a later report with `whenGone: 'fix'` does not contain either */
async function fixedByLaterReports(
  tx: Transaction,
  target: ImportToUndo,
  rows: readonly SeenFinding[],
): Promise<ReadonlySet<number>> {
  const coverage = await coverageByOthers(tx, target, rows);
  if (coverage.size === 0) return new Set();
  const imports = await tx
    .selectFrom('imports')
    .select(['id', 'options'])
    .where((eb) =>
      inList(
        tx,
        eb.ref('id'),
        [...coverage.values()].map(({ importId }) => importId),
      ),
    )
    .execute();
  const fixing = new Set(
    imports.flatMap(({ id, options }) =>
      (JSON.parse(options) as Partial<ImportOptions>).whenGone === 'fix' ? [id] : [],
    ),
  );
  return new Set([...coverage].flatMap(([id, { importId }]) => (fixing.has(importId) ? [id] : [])));
}
