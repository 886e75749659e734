import { availableParallelism } from 'node:os';
import type { Caller } from '../auth/callers.ts';
import type { Context } from '../runtime/context.ts';
import { DIST } from '../paths.ts';
import type { KeptProgress } from '../domain/imports/import-list.ts';
import {
  beginImport,
  callerOfText,
  endImport,
  endUndo,
  IMPORT_JOB,
  type ImportEnd,
  isCancelRequested,
  keepProgress,
  type RunnableImport,
  takeImport,
} from '../domain/imports/import-lifecycle.ts';
import { discardContents } from '../files/file-storage.ts';
import { endOfRights } from '../domain/imports/lost-permissions.ts';
import { importInThread, OutOfMemory } from '../importers/worker/import-worker-host.ts';
import type { ThreadProgress } from '../importers/worker/import-worker.ts';
import { undoImport } from '../domain/imports/undo/undo-import.ts';
import type { JobKind, Run } from './runner.ts';

/** How often an import is begun that the server cannot bring to an end. */
const MAX_ATTEMPTS = 4;
/** How often it is asked whether somebody has cancelled it, in ms. */
const LOOK_EVERY = 500;
/** In MiB: a run reads little that it has read before. */
const PAGE_CACHE = 16;
/** What part of a run has to be done before the rest is estimated, and for how long, in ms. */
const [KNOWN_PART, KNOWN_TIME] = [0.02, 1_000];

/** Runs imports, as many at once as there are processors, in all instances together. */
export const imports = (context: Context): JobKind => ({
  kind: IMPORT_JOB,
  atOnce: availableParallelism(),
  maxAttempts: MAX_ATTEMPTS,
  take: takeImport(availableParallelism()),
  run(run) {
    const { import: id, undoneBy } = JSON.parse(run.job.payload) as { import: number; undoneBy?: string };
    return undoneBy === undefined
      ? doImport(context, run, id)
      : doUndo(context, run, id, callerOfText(undoneBy));
  },
});

async function doUndo({ db, clock }: Context, { signal }: Run, id: number, caller: Caller): Promise<void> {
  const counts = await undoImport({ db, caller, clock, signal }, id);
  await db.write((tx) => endUndo(tx, { actor: caller, now: clock() }, id, counts));
}

async function doImport(context: Context, { job, signal }: Run, id: number): Promise<void> {
  const { db, clock, log } = context;
  const begun = await db.write((tx) => beginImport(tx, id, clock()));
  if (begun === undefined) return;
  const end = async (ended: ImportEnd): Promise<void> => {
    const unused = await db.write((tx) => endImport(tx, id, clock(), ended));
    await discardContents(context, unused).catch((err: unknown) =>
      log.warn({ err, import: id }, 'the file of an import was not cleared away'),
    );
  };
  if (begun.isCancelled) return end({ state: 'cancelled', error: null });
  const ended = await endOfRights(db.read, begun);
  if (ended !== undefined) return end(failed(ended));
  // Each of them ended its process.
  if (job.attempts > MAX_ATTEMPTS)
    return end(failed('The server broke off at this report, again and again.'));
  try {
    await end(await runIt(context, begun, signal));
  } catch (error) {
    if (error instanceof OutOfMemory) {
      log.error({ err: error, import: id }, 'an import needed too much memory');
      return end(
        failed(
          `The import needed more than the ${context.config.importMemory} MiB of memory that it may have (ASSAY_IMPORT_MEMORY). What it had applied stays.`,
        ),
      );
    }
    if (signal.aborted || job.attempts < MAX_ATTEMPTS) throw error;
    log.error({ err: error, import: id }, 'an import failed for good');
    await end(failed('The server could not finish the import. Its log has the reason.'));
  }
}

function failed(message: string): ImportEnd {
  return { state: 'failed', error: { message } };
}

async function runIt(context: Context, job: RunnableImport, left: AbortSignal): Promise<ImportEnd> {
  const { config, db, log } = context;
  const started = performance.now();
  const cancelled = new AbortController();
  let rightsEnded: string | undefined;
  const look = async (): Promise<void> => {
    const isCancelled = await isCancelRequested(db.read, job.id);
    rightsEnded ??= await endOfRights(db.read, job);
    if (isCancelled || rightsEnded !== undefined) cancelled.abort(new Error('The import is to end.'));
  };
  // Where one look fails, the next will tell.
  const looking = setInterval(() => void look().catch(() => undefined), LOOK_EVERY).unref();
  let writing: Promise<void> | undefined;
  const keep = (progress: ThreadProgress): void => {
    const kept = progressOf(job, progress, performance.now() - started);
    // One that waits behind the last would tell what is old.
    writing ??= db
      .write((tx) => keepProgress(tx, job.id, kept))
      .catch((err: unknown) => log.warn({ err, import: job.id }, 'the progress of an import was not kept'))
      .finally(() => (writing = undefined));
  };
  try {
    const { databaseUrl, dataDirectory, requestTimeout: timeout, attachments, importMemory: memory } = config;
    const database = { databaseUrl, dataDirectory, timeout, pageCache: PAGE_CACHE };
    const url = new URL('import-thread.js', DIST);
    const signals = { cancelled: cancelled.signal, left };
    const { outcome, progress } = await importInThread(
      url,
      { database, attachments, memory, job },
      signals,
      keep,
    );
    const hasLost = outcome.state === 'cancelled' && rightsEnded !== undefined;
    return {
      ...outcome,
      ...(hasLost ? failed(rightsEnded as string) : {}),
      progress: { ...progressOf(job, progress, 0), secondsLeft: null },
    };
  } finally {
    clearInterval(looking);
    await writing;
  }
}

/** @param elapsed milliseconds since the run began */
function progressOf(
  { size }: RunnableImport,
  { bytesRead, hosts, ports, findings, skipped, applied }: ThreadProgress,
  elapsed: number,
): KeptProgress {
  const read = size === 0 ? 1 : bytesRead / size;
  // Hosts are applied as they are read, findings after that, which takes about as long.
  const part = findings === 0 ? read : (read + applied) / 2;
  const isKnown = part >= KNOWN_PART && elapsed >= KNOWN_TIME;
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
