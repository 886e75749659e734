import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { AdaptiveWriter } from '../../db/concurrency/adaptive-writer.ts';
import { forUpdate, inList } from '../../db/dialect-sql.ts';
import type { Database, Engine, ReadConnection, Transaction } from '../../db/database.ts';
import { deleteDetections } from '../assets/scans/host-detections.ts';
import { DeltaAccumulator, insertDeltas } from '../shared/counters.ts';
import { deleteUnusedContents } from './finding-contents.ts';
import type { ImportUndone } from './import-list.ts';
import { reconcileFindings } from './reconcile-findings.ts';
import { alignReportTimes, type SameReport } from './report-times.ts';
import { readAffectedFindings } from './scan-scopes.ts';
import { undoListing } from './import-listing.ts';
import { changeHostDetections, runInSteps, undoAssetDetections } from './undo-assets.ts';

interface ImportToUndo extends SameReport {
  id: number;
}

type UndoCounts = Omit<ImportUndone, 'at'>;

/** Findings in the first transaction and in the largest. */
const FIRST_BATCH = 50;
const MAX_BATCH = 2_000;
/** Batches at the same time. SQLite has one writer; PostgreSQL deletes while the next batch is derived. */
const LANES: Readonly<Record<Engine, number>> = { sqlite: 1, postgres: 2 };

/**
 * Undoes an import that has ended, in small transactions (operation 82): deletes its detections and scan scopes, and
 * derives the state of their findings and assets again. After a crash it continues where it stopped and counts only the
 * rest.
 */
export async function undoImport(
  { db, caller, clock, signal }: { db: Database; caller: Caller; clock: () => number; signal: AbortSignal },
  id: number,
): Promise<UndoCounts> {
  const counts: UndoCounts = { findings: 0, assets: 0, statuses: 0, kept: 0 };
  const target = await findImportToUndo(db.read, id);
  if (target === undefined) return counts;
  const by = (): ChangeContext<Caller> => ({ actor: caller, now: clock() });
  const newWriter = (stop: AbortSignal) =>
    new AdaptiveWriter(db, stop, { dryRun: false, size: FIRST_BATCH, maxSize: MAX_BATCH });
  const writer = newWriter(signal);
  const { assessmentId } = target;
  if (assessmentId !== null) {
    const pages = readAffectedFindings(db.read, { ...target, assessmentId });
    await runInParallel(LANES[db.engine], signal, async (stop) => {
      const laneWriter = newWriter(stop);
      for (let page = await pages.next(); page.done !== true; page = await pages.next())
        for (let start = 0; start < page.value.length;) {
          const batch = page.value.slice(start, start + laneWriter.batchSize);
          start += batch.length;
          const done = await laneWriter.write(batch.length, (tx) =>
            undoFindings(tx, { ...target, assessmentId }, by(), batch),
          );
          counts.findings += done.findings;
          counts.statuses += done.statuses;
          counts.kept += done.kept;
        }
    });
    // After all findings, as these rows determine which findings are affected.
    await writer.write(1, (tx) => deleteScopes(tx, id));
    await runInSteps(writer, (tx, after, limit) =>
      undoListing(tx, { ...target, assessmentId }, by(), after, limit),
    );
  }
  await runInSteps(writer, (tx, after, limit) =>
    changeHostDetections(tx, target, (hosts) => deleteDetections(tx, id, hosts), after, limit),
  );
  const assets = await runInSteps(writer, (tx, after, limit) =>
    undoAssetDetections(tx, target, by(), after, limit),
  );
  counts.assets = assets.done;
  counts.kept += assets.kept;
  await alignReportTimes({ db, writer, by }, target, id);
  return counts;
}

/** Runs `work` in parallel. If one call fails, it stops the others, waits for them and throws the error. */
async function runInParallel(
  count: number,
  signal: AbortSignal,
  work: (stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const lanes = Array.from({ length: count }, () =>
    work(stop).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(lanes);
  await Promise.all(lanes);
}

async function findImportToUndo(db: ReadConnection, id: number): Promise<ImportToUndo | undefined> {
  const row = await db
    .selectFrom('imports')
    .select(['organization_id', 'assessment_id', 'sha256'])
    .where('id', '=', id)
    .executeTakeFirst();
  return (
    row && {
      id,
      organizationId: row.organization_id,
      assessmentId: row.assessment_id,
      sha256: row.sha256,
    }
  );
}

type FindingsToUndo = ImportToUndo & { assessmentId: number };

/** Derives findings without an import, and deletes its detections. */
async function undoFindings(
  tx: Transaction,
  { id, organizationId, assessmentId }: FindingsToUndo,
  by: ChangeContext<Caller>,
  ids: readonly number[],
): Promise<Omit<UndoCounts, 'assets'>> {
  const sums = new DeltaAccumulator();
  const changes = await reconcileFindings(
    tx,
    { organizationId, assessmentId, by, importId: id, undoneImportId: id, sums, lock: forUpdate },
    ids,
  );
  await tx
    .deleteFrom('detections')
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .where('import_id', '=', id)
    .execute();
  await deleteUnusedContents(tx, ids);
  await insertDeltas(tx, sums.rows());
  const counted = changes.filter(({ isDraft }) => by.actor.staff || !isDraft);
  return {
    findings: counted.filter(({ before, after }) => before !== null && after === null).length,
    statuses: counted.filter(
      ({ before, after }) => before !== null && after !== null && before.statusId !== after.statusId,
    ).length,
    kept: counted.filter(({ isKept }) => isKept).length,
  };
}

async function deleteScopes(tx: Transaction, importId: number): Promise<void> {
  await tx.deleteFrom('scan_scopes').where('import_id', '=', importId).execute();
  await tx.deleteFrom('untested_findings').where('import_id', '=', importId).execute();
}
