import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { AttachmentStore } from '../attachments-config.ts';
import type { DatabaseConfig } from '../db/engine.ts';
import { openDatabase } from '../db/open.ts';
import type { ImportOutcome, ImportProgress } from '../domain/imports/import-job.ts';
import type { RunnableImport } from '../domain/imports/import-runs.ts';
import { openFileStore } from '../files/file-store.ts';
import { FORMATS } from './formats/index.ts';
import { runImport } from './ingest.ts';
import { unpack } from './reading/unpack.ts';
import type { ReportSource } from './report.ts';

/** In MiB: nearly all that a run makes is soon thrown away. */
const NURSERY_SIZE = 16;
/** In MiB, of each connection: what an import writes lies together, so that it needs few pages again. */
const PAGE_CACHE = 16;
/** How long, in ms, a thread that was told to end may take for the unit of work that it is in. */
const GRACE = 5_000;
const PROGRESS_EVERY = 500;

/** How far a run is, and how much of the file as it was sent it has read. */
export type ThreadProgress = ImportProgress & { bytesRead: number };

/** What a thread opens for itself. */
export interface ThreadSetup {
  database: DatabaseConfig;
  attachments: AttachmentStore | undefined;
  /** In MiB: a run that needs more ends with its thread, and the process goes on. */
  memory: number;
}

interface ThreadData extends ThreadSetup {
  job: RunnableImport;
}

type Message =
  | { progress: ThreadProgress }
  | { outcome: ImportOutcome; progress: ThreadProgress }
  | { failure: { name: string; message: string; stack: string | undefined } };

/** The end of a run that this process could not bring to an end; it may be run again. */
class ThreadFailure extends Error {
  override name = 'ThreadFailure';
}

/** The end of a run that needed more memory than it may have, and would again. */
export class OutOfMemory extends Error {
  override name = 'OutOfMemory';
}

/**
 * Runs an import in a thread with a database handle and a file store of its own, so that nothing of it holds the event loop
 * of this one.
 * @param url of this module, compiled
 * @param signals `cancelled` ends the run, which tells what was applied; `left` ends it because it is another's now, or the
 *   process ends
 * @param onProgress told at most twice a second
 * @throws the reason of `left`, OutOfMemory, ThreadFailure for what else is no fault of the report
 */
export async function importInThread(
  url: URL,
  data: ThreadData,
  { cancelled, left }: { cancelled: AbortSignal; left: AbortSignal },
  onProgress: (progress: ThreadProgress) => void,
): Promise<{ outcome: ImportOutcome; progress: ThreadProgress }> {
  left.throwIfAborted();
  const worker = new Worker(url, {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: data.memory, maxYoungGenerationSizeMb: NURSERY_SIZE },
  });
  let end: Exclude<Message, { progress: ThreadProgress; outcome?: never }> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    worker.postMessage('stop', []);
    timer ??= setTimeout(() => void worker.terminate(), GRACE);
  };
  cancelled.addEventListener('abort', stop, { once: true });
  left.addEventListener('abort', stop, { once: true });
  if (cancelled.aborted) stop();
  try {
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: Message) => {
        if ('outcome' in message || 'failure' in message) end = message;
        else onProgress(message.progress);
      });
      worker.on('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? new OutOfMemory(`An import needed more than ${data.memory} MiB.`, { cause: error })
            : error,
        ),
      );
      worker.on('exit', () => resolve());
    });
  } finally {
    clearTimeout(timer);
    cancelled.removeEventListener('abort', stop);
    left.removeEventListener('abort', stop);
  }
  left.throwIfAborted();
  if (end === undefined) throw new ThreadFailure('The thread of an import ended by itself.');
  if ('failure' in end) {
    const failure = new ThreadFailure(`${end.failure.name}: ${end.failure.message}`);
    if (end.failure.stack !== undefined) failure.stack = end.failure.stack;
    throw failure;
  }
  return end;
}

async function runInThread(port: NonNullable<typeof parentPort>, data: ThreadData): Promise<void> {
  const { database, attachments, job } = data;
  const stopping = new AbortController();
  port.on('message', () => stopping.abort(new Error('The import was told to end.')));
  const send = (message: Message): void => port.postMessage(message, []);
  const progress: ThreadProgress = {
    hosts: 0,
    ports: 0,
    findings: 0,
    skipped: 0,
    applied: 0,
    bytesRead: 0,
  };
  let told = 0;
  const tell = (): void => {
    const now = performance.now();
    if (now - told < PROGRESS_EVERY) return;
    told = now;
    send({ progress: { ...progress } });
  };
  const db = await openDatabase({ ...database, pageCache: PAGE_CACHE, durableLater: true });
  try {
    const format = FORMATS.find(({ name }) => name === job.format);
    if (format === undefined) throw new Error(`There is no format ${job.format} any more.`);
    const files = openFileStore({ attachments, dataDirectory: database.dataDirectory }, db);
    const sent: ReportSource = async function* () {
      let read = 0;
      if (job.size === 0) return;
      for await (const piece of files.read(job.key, 0, job.size - 1)) {
        read += piece.length;
        // A report may be read twice.
        progress.bytesRead = Math.max(progress.bytesRead, read);
        tell();
        yield piece;
      }
    };
    const outcome = await runImport({
      db,
      source: unpack(sent, job.size),
      format,
      job,
      clock: Date.now,
      signal: stopping.signal,
      onProgress(now) {
        Object.assign(progress, now);
        tell();
      },
    });
    send({ outcome, progress: { ...progress, ...outcome.progress } });
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    send({ failure: { name, message, stack } });
  } finally {
    await db.close();
    port.close();
  }
}

if (!isMainThread && parentPort !== null) await runInThread(parentPort, workerData as ThreadData);
