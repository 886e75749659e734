import type { AttachmentStoreConfig } from '../../config/attachment-store.ts';
import type { DatabaseConfig } from '../../db/database.ts';
import { openDatabase } from '../../db/open-database.ts';
import type { ImportOutcome, RunProgress } from '../../domain/imports/import-types.ts';
import type { RunnableImport } from '../../domain/imports/import-lifecycle.ts';
import { openFileStore } from '../../files/file-storage.ts';
import { lowerThreadPriority } from '../../lib/thread-priority.ts';
import { findFormat } from '../formats/index.ts';
import { runImport } from '../run-import.ts';
import { decompress } from '../parsing/decompress.ts';
import type { ByteSource } from '../report.ts';

/** MiB per connection. An import writes neighbouring pages and rarely needs an old one. */
const PAGE_CACHE = 4;
const PROGRESS_INTERVAL = 500;
/** Milliseconds between messages of a run that waits for the database or the file store. */
const HEARTBEAT_INTERVAL = 5_000;

/**
 * Progress of a run, with the bytes of the uploaded file that it has read. `steps` counts chunks, records and
 * transactions, including those that change no other count.
 */
export type WorkerProgress = RunProgress & { bytesRead: number; steps: number };

export interface WorkerSetup {
  database: DatabaseConfig;
  attachments: AttachmentStoreConfig | undefined;
  /** MiB. */
  memory: number;
}

export interface ImportWorkerData extends WorkerSetup {
  job: RunnableImport;
}

/** Messages to the worker: a job, then possibly a request to stop it; the next job follows the end of the last. */
export type ImportWorkerCommand = ImportWorkerData | 'stop';

/**
 * Messages from the worker. `isGrouping` precedes the grouping of findings, which may take minutes without a message.
 * An outcome, with the resident memory in bytes, or a failure is the last of a run.
 */
export type ImportWorkerMessage =
  | { progress: WorkerProgress; isGrouping?: true }
  | { outcome: ImportOutcome; progress: WorkerProgress; memory: number }
  | { failure: { name: string; message: string; stack: string | undefined } };

const send = (message: ImportWorkerMessage) =>
  new Promise<void>((resolve) => void process.send?.(message, undefined, undefined, () => resolve()));

/** Runs an import, and sends its end once the database is closed: the process may be killed then. */
async function runJob(data: ImportWorkerData, signal: AbortSignal): Promise<void> {
  const progress: WorkerProgress = {
    hosts: 0,
    ports: 0,
    findings: 0,
    skipped: 0,
    applied: 0,
    bytesRead: 0,
    steps: 0,
  };
  const heartbeat = setInterval(() => void send({ progress: { ...progress } }), HEARTBEAT_INTERVAL);
  let end: ImportWorkerMessage;
  try {
    const outcome = await importReport(data, progress, signal);
    end = {
      outcome,
      progress: { ...progress, ...outcome.progress },
      memory: process.memoryUsage.rss(),
    };
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    end = { failure: { name, message, stack } };
  } finally {
    clearInterval(heartbeat);
  }
  await send(end);
}

async function importReport(
  { database, attachments, job }: ImportWorkerData,
  progress: WorkerProgress,
  signal: AbortSignal,
): Promise<ImportOutcome> {
  let lastSent = 0;
  const sendProgress = (): void => {
    progress.steps += 1;
    const now = performance.now();
    if (now - lastSent < PROGRESS_INTERVAL) return;
    lastSent = now;
    void send({ progress: { ...progress } });
  };
  const db = await openDatabase({ ...database, pageCache: PAGE_CACHE, relaxedDurability: true });
  try {
    const format = findFormat(job.format);
    if (format === undefined) throw new Error(`Unknown report format: ${job.format}.`);
    const files = openFileStore({ attachments, dataDirectory: database.dataDirectory }, db);
    const upload: ByteSource = async function* () {
      let read = 0;
      if (job.size === 0) return;
      for await (const chunk of files.read(job.contentKey, 0, job.size - 1)) {
        // The run checks the signal at each record, and a chunk may contain none.
        signal.throwIfAborted();
        read += chunk.length;
        // Some formats read a report twice.
        progress.bytesRead = Math.max(progress.bytesRead, read);
        sendProgress();
        yield chunk;
      }
    };
    return await runImport({
      db,
      source: decompress(upload, job.size),
      format,
      job,
      clock: Date.now,
      signal,
      onProgress(runProgress) {
        Object.assign(progress, runProgress);
        sendProgress();
      },
      onGroup: () => void send({ progress: { ...progress }, isGrouping: true }),
    });
  } finally {
    await db.close();
  }
}

lowerThreadPriority();
// The server decides when a run stops. It ends with the server, even if that is killed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
let stopping: AbortController | undefined;
process.on('message', (command: ImportWorkerCommand) => {
  if (command === 'stop') {
    stopping?.abort(new Error('The import was stopped.'));
    return;
  }
  stopping = new AbortController();
  void runJob(command, stopping.signal);
});
