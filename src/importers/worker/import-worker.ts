import { parentPort, workerData } from 'node:worker_threads';
import type { AttachmentStoreConfig } from '../../config/attachment-store.ts';
import type { DatabaseConfig } from '../../db/engine.ts';
import { openDatabase } from '../../db/open-database.ts';
import type { ImportOutcome, RunProgress } from '../../domain/imports/import-types.ts';
import type { RunnableImport } from '../../domain/imports/import-lifecycle.ts';
import { openFileStore } from '../../files/open-file-store.ts';
import { lowerThreadPriority } from '../../runtime/thread-priority.ts';
import { REPORT_FORMATS } from '../formats/index.ts';
import { runImport } from '../run-import.ts';
import { decompress } from '../parsing/decompress.ts';
import type { ByteSource } from '../report.ts';

/** In MiB, of each connection: what an import writes lies together, so that it needs few pages again. */
const PAGE_CACHE = 4;
const PROGRESS_INTERVAL = 500;

/** How far a run is, and how much of the file as it was sent it has read. */
export type WorkerProgress = RunProgress & { bytesRead: number };

/** What a thread opens for itself. */
export interface WorkerSetup {
  database: DatabaseConfig;
  attachments: AttachmentStoreConfig | undefined;
  /** In MiB: a run that needs more ends with its thread, and the process goes on. */
  memory: number;
}

export interface ImportWorkerData extends WorkerSetup {
  job: RunnableImport;
}

/** What it tells; an end is the last. */
export type ImportWorkerMessage =
  | { progress: WorkerProgress }
  | { outcome: ImportOutcome; progress: WorkerProgress }
  | { failure: { name: string; message: string; stack: string | undefined } };

async function runWorker(port: NonNullable<typeof parentPort>, data: ImportWorkerData): Promise<void> {
  const { database, attachments, job } = data;
  const stopping = new AbortController();
  port.on('message', () => stopping.abort(new Error('The import was told to end.')));
  const send = (message: ImportWorkerMessage): void => port.postMessage(message, []);
  const progress: WorkerProgress = {
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
    if (now - told < PROGRESS_INTERVAL) return;
    told = now;
    send({ progress: { ...progress } });
  };
  const db = await openDatabase({ ...database, pageCache: PAGE_CACHE, relaxedDurability: true });
  try {
    const format = REPORT_FORMATS.find(({ name }) => name === job.format);
    if (format === undefined) throw new Error(`There is no format ${job.format} any more.`);
    const files = openFileStore({ attachments, dataDirectory: database.dataDirectory }, db);
    const sent: ByteSource = async function* () {
      let read = 0;
      if (job.size === 0) return;
      for await (const piece of files.read(job.contentKey, 0, job.size - 1)) {
        read += piece.length;
        // A report may be read twice.
        progress.bytesRead = Math.max(progress.bytesRead, read);
        tell();
        yield piece;
      }
    };
    const outcome = await runImport({
      db,
      source: decompress(sent, job.size),
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

if (parentPort !== null) {
  lowerThreadPriority();
  await runWorker(parentPort, workerData as ImportWorkerData);
}
