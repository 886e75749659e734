import { availableParallelism } from 'node:os';
import type { Context } from '../context.ts';
import { DIST } from '../paths.ts';
import type { ImportProgress } from '../domain/imports/import-list.ts';
import {
  startRun,
  finishRun,
  finishUndo,
  IMPORT_JOB,
  type FinishedRun,
  isCancelRequested,
  saveProgress,
  type RunnableImport,
  claimNextImport,
} from '../domain/imports/import-lifecycle.ts';
import { deleteUnreferenced } from '../files/file-storage.ts';
import { recordFailedUndo, startUndo, type UndoPayload } from '../domain/imports/cancel-import.ts';
import { currentRights, findLostPermission } from '../domain/imports/import-permissions.ts';
import { runImportInWorker, ImportOutOfMemory, ImportStuck } from '../importers/worker/import-worker-host.ts';
import type { WorkerProgress } from '../importers/worker/import-worker.ts';
import { undoImport } from '../domain/imports/undo-import.ts';
import type { JobHandler, JobRun } from './runner.ts';

/** The maximum number of runs of an import or undo, the first included. */
const MAX_ATTEMPTS = 4;
/** Milliseconds between checks for a cancellation. */
const CANCELLATION_POLL_INTERVAL = 500;
/** MiB. A run rarely reads a page twice. */
const PAGE_CACHE_MIB = 16;
/** The part of the run, and the milliseconds, after which the remaining time is estimated. */
const [MIN_ESTIMATE_PART, MIN_ESTIMATE_TIME] = [0.02, 1_000];

/** Runs imports and their undos; all instances together run as many as this machine has processors. */
export const importsJob = (context: Context): JobHandler => ({
  kind: IMPORT_JOB,
  concurrency: availableParallelism(),
  maxAttempts: MAX_ATTEMPTS,
  take: claimNextImport(availableParallelism()),
  run(run) {
    const payload = JSON.parse(run.job.payload) as { import: number } | UndoPayload;
    return 'undoneBy' in payload
      ? runUndoJob(context, run, payload)
      : runImportJob(context, run, payload.import);
  },
});

async function runUndoJob(
  { db, clock, log }: Context,
  { job, signal }: JobRun,
  payload: UndoPayload,
): Promise<void> {
  const id = payload.import;
  const started = await db.write((tx) => startUndo(tx, payload, clock()));
  if ('lostPermission' in started) {
    log.warn({ import: id, reason: started.lostPermission }, 'an undo did not run');
    return;
  }
  const by = () => ({ actor: started.caller, now: clock() });
  const giveUp = (message: string) => db.write((tx) => recordFailedUndo(tx, by(), id, message));
  // The process ended during the last attempt. An error would have ended the undo.
  if (job.attempts > MAX_ATTEMPTS) {
    log.error({ import: id }, 'the server crashed repeatedly during an undo');
    return giveUp('The server crashed repeatedly during the undo. Its log may have the reason.');
  }
  try {
    const counts = await undoImport({ db, caller: started.caller, clock, signal }, id);
    await db.write((tx) => finishUndo(tx, by(), id, counts));
  } catch (error) {
    if (signal.aborted || job.attempts < MAX_ATTEMPTS) throw error;
    log.error({ err: error, import: id }, 'an undo failed');
    await giveUp('The server could not finish the undo. See its log for the reason.');
  }
}

async function runImportJob(context: Context, { job, signal }: JobRun, id: number): Promise<void> {
  const { db, clock, log } = context;
  const runnable = await db.write((tx) => startRun(tx, id, clock()));
  if (runnable === undefined) return;
  const finish = async (run: FinishedRun): Promise<void> => {
    const unused = await db.write((tx) => finishRun(tx, id, clock(), run));
    // Indexes its findings for search.
    context.jobs.notify();
    await deleteUnreferenced(context, unused).catch((err: unknown) =>
      log.warn({ err, import: id }, 'cannot delete the file of an import; the cleanup job will retry'),
    );
  };
  if (runnable.isCancelled) return finish({ state: 'cancelled', error: null });
  if (runnable.lostPermission !== undefined) return finish(failedRun(runnable.lostPermission));
  // The process ended during the last attempt. An error would have ended the import.
  if (job.attempts > MAX_ATTEMPTS)
    return finish(
      failedRun('The server crashed repeatedly while importing this report. Its log may have the reason.'),
    );
  try {
    await finish(await superviseImport(context, runnable, signal));
  } catch (error) {
    if (error instanceof ImportOutOfMemory) {
      log.error({ err: error, import: id }, 'an import exceeded its memory limit');
      return finish(
        failedRun(
          `The import exceeded its memory limit of ${context.config.importMemory} MiB (ASSAY_IMPORT_MEMORY). What it had applied stays. Split the report, or raise the limit.`,
        ),
      );
    }
    if (error instanceof ImportStuck) {
      log.error({ err: error, import: id }, 'an import was stuck');
      return finish(
        failedRun(
          `The import made no progress for ${error.duration / 1_000} seconds and was stopped. What it had applied stays. Check the report, or split it to find the part that is not read.`,
        ),
      );
    }
    if (signal.aborted || job.attempts < MAX_ATTEMPTS) throw error;
    log.error({ err: error, import: id }, 'an import failed');
    await finish(failedRun('The server could not finish the import. See its log for the reason.'));
  }
}

function failedRun(message: string): FinishedRun {
  return { state: 'failed', error: { message } };
}

async function superviseImport(
  context: Context,
  job: RunnableImport,
  abandoned: AbortSignal,
): Promise<FinishedRun> {
  const { config, db, log } = context;
  const started = performance.now();
  const cancelled = new AbortController();
  let lostPermission: string | undefined;
  const checkCancellation = async (): Promise<void> => {
    const isCancelled = await isCancelRequested(db.read, job.id);
    lostPermission ??= await findLostPermission(db.read, await currentRights(db.read, job.caller), job);
    if (isCancelled || lostPermission !== undefined) cancelled.abort(new Error('The import was cancelled.'));
  };
  // If a check fails, the next one decides.
  const cancellationPoll = setInterval(
    () => void checkCancellation().catch(() => undefined),
    CANCELLATION_POLL_INTERVAL,
  ).unref();
  let writing: Promise<void> | undefined;
  const onProgress = (progress: WorkerProgress): void => {
    const estimate = estimateProgress(job, progress, performance.now() - started);
    // Updates that arrive during a write are dropped; the next one is newer.
    writing ??= db
      .write((tx) => saveProgress(tx, job.id, estimate))
      .catch((err: unknown) => log.warn({ err, import: job.id }, 'cannot save the progress of an import'))
      .finally(() => (writing = undefined));
  };
  try {
    const { databaseUrl, dataDirectory, requestTimeout: timeout, attachments, importMemory: memory } = config;
    const database = { databaseUrl, dataDirectory, timeout, pageCache: PAGE_CACHE_MIB };
    const url = new URL('import-worker.js', DIST);
    const signals = { cancelled: cancelled.signal, abandoned };
    const { outcome, progress } = await runImportInWorker(
      url,
      { database, attachments, memory, job },
      signals,
      onProgress,
    );
    const hasLostPermission = outcome.state === 'cancelled' && lostPermission !== undefined;
    return {
      ...outcome,
      ...(hasLostPermission ? failedRun(lostPermission as string) : {}),
      progress: { ...estimateProgress(job, progress, 0), secondsLeft: null },
    };
  } finally {
    clearInterval(cancellationPoll);
    await writing;
  }
}

/** @param elapsed milliseconds since the run began */
function estimateProgress(
  { size }: RunnableImport,
  { bytesRead, hosts, ports, findings, skipped, applied }: WorkerProgress,
  elapsed: number,
): ImportProgress {
  const read = size === 0 ? 1 : bytesRead / size;
  // Hosts are applied while the report is read. Findings are applied afterwards, which takes about as long.
  const part = findings === 0 ? read : (read + applied) / 2;
  const isKnown = part >= MIN_ESTIMATE_PART && elapsed >= MIN_ESTIMATE_TIME;
  return {
    bytesRead,
    bytesTotal: size,
    hosts,
    ports,
    findings,
    skipped,
    secondsLeft: isKnown ? Math.ceil((elapsed * (1 - part)) / part / 1_000) : null,
  };
}
