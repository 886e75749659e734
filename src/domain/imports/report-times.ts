import type { ChangeContext, Caller } from '../../auth/callers.ts';
import type { AdaptiveWriter } from '../../db/concurrency/adaptive-writer.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Database, ReadConnection, Transaction } from '../../db/database.ts';
import { DeltaAccumulator, insertDeltas } from '../shared/counters.ts';
import { readAffectedFindings } from './scan-scopes.ts';
import { retimeAssetDetections } from './undo-assets.ts';
import type { ImportJob } from './import-types.ts';
import { reconcileFindings } from './reconcile-findings.ts';

/** Imports of the same bytes into the same assessment, or into the organization without one. */
export interface SameReport {
  organizationId: number;
  assessmentId: number | null;
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string;
}

interface DatedImport {
  id: number;
  reportAt: number;
  fallbackAt: number;
  byStaff: boolean;
}

/** What others upload, and the time that they give it, does not move what staff imported to another time. */
const givesTimeTo = (other: Pick<DatedImport, 'byStaff'>, isStaffs: boolean): boolean =>
  other.byStaff || !isStaffs;

/** @returns the imports of a report without a time of its own, except those undone */
async function importsWithoutOwnTime(
  db: ReadConnection,
  { organizationId, assessmentId, sha256 }: SameReport,
): Promise<DatedImport[]> {
  const rows = await db
    .selectFrom('imports')
    .select(['id', 'report_at', 'fallback_report_at', 'by_staff'])
    .where('organization_id', '=', organizationId)
    .where('sha256', '=', sha256)
    .where('assessment_id', assessmentId === null ? 'is' : '=', assessmentId)
    .where('undone', 'is', null)
    .execute();
  return rows.flatMap(({ id, report_at: reportAt, fallback_report_at: fallbackAt, by_staff: byStaff }) =>
    reportAt === null || fallbackAt === null ? [] : [{ id, reportAt, fallbackAt, byStaff: byStaff === 1 }],
  );
}

const sameReportAs = (job: ImportJob): SameReport => ({
  organizationId: job.organizationId,
  assessmentId: job.assessment?.id ?? null,
  sha256: job.sha256,
});

/**
 * @returns the earliest time that other standing imports give the same bytes, in milliseconds since 1970; `undefined`
 *   if there are none or the report has a time of its own
 */
export async function earliestReportTime(db: ReadConnection, job: ImportJob): Promise<number | undefined> {
  const [imports, own] = await Promise.all([
    importsWithoutOwnTime(db, sameReportAs(job)),
    db.selectFrom('imports').select('by_staff').where('id', '=', job.id).executeTakeFirst(),
  ]);
  const times = imports.flatMap((other) =>
    other.id !== job.id && givesTimeTo(other, own?.by_staff === 1) ? [other.fallbackAt] : [],
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * Saves the time of a report, so that a restarted run and later imports find it.
 * @param fallbackAt the given time or that of the upload, if the report has none itself; else `null`
 */
export async function saveReportTime(
  tx: Transaction,
  job: ImportJob,
  reportAt: number,
  fallbackAt: number | null,
): Promise<void> {
  await tx
    .updateTable('imports')
    .set({ report_at: reportAt, fallback_report_at: fallbackAt })
    .where('id', '=', job.id)
    .execute();
}

/**
 * Gives all standing imports of a report without a time of its own the earliest of their times, those of staff the
 * earliest of staff's, after one of them was added or undone.
 * @param undoneImportId an import that is being undone
 */
export async function alignReportTimes(
  run: { db: Database; writer: AdaptiveWriter; by: () => ChangeContext<Caller> },
  report: SameReport,
  undoneImportId?: number,
): Promise<void> {
  const sameReports = await importsWithoutOwnTime(run.db.read, report);
  const imports = sameReports.filter(({ id }) => id !== undoneImportId);
  for (const { id, reportAt, byStaff } of imports) {
    const earliest = Math.min(
      ...imports.flatMap((other) => (givesTimeTo(other, byStaff) ? [other.fallbackAt] : [])),
    );
    if (reportAt !== earliest) await retimeImport(run, { ...report, id }, earliest);
  }
}

/**
 * Gives all detections and scan scopes of an import another time. The import itself comes last, so that a crash in
 * between is noticed.
 */
async function retimeImport(
  { db, writer, by }: Parameters<typeof alignReportTimes>[0],
  { id, organizationId, assessmentId }: SameReport & { id: number },
  reportAt: number,
): Promise<void> {
  if (assessmentId !== null) {
    await writer.write(1, (tx) =>
      tx.updateTable('scan_scopes').set({ covered_at: reportAt }).where('import_id', '=', id).execute(),
    );
    for await (const ids of readAffectedFindings(db.read, { id, assessmentId }))
      for (let start = 0; start < ids.length;) {
        const batch = ids.slice(start, start + writer.batchSize);
        start += batch.length;
        await writer.write(batch.length, async (tx) => {
          await tx
            .updateTable('detections')
            .set({ seen_at: reportAt, first_seen_at: reportAt })
            .where((eb) => inList(tx, eb.ref('vulnerability_id'), batch))
            .where('import_id', '=', id)
            .execute();
          const sums = new DeltaAccumulator();
          await reconcileFindings(tx, { organizationId, assessmentId, by: by(), importId: id, sums }, batch);
          await insertDeltas(tx, sums.rows());
        });
      }
  }
  await retimeAssetDetections(writer, { id, organizationId }, reportAt);
  await writer.write(1, (tx) =>
    tx.updateTable('imports').set({ report_at: reportAt }).where('id', '=', id).execute(),
  );
}
