import { Worker } from 'node:worker_threads';
import type { ImportOutcome } from '../../domain/imports/import-types.ts';
import type { ImportWorkerMessage, ImportWorkerData, WorkerProgress } from './import-worker.ts';

/** MiB. Nearly all objects of a run are short-lived. */
const YOUNG_GENERATION_SIZE = 8;
/** Milliseconds that a stopping worker has to finish its transaction. */
const STOP_TIMEOUT = 5_000;

/** The run ended without a result through no fault of the report; it may be retried. */
class ImportWorkerError extends Error {
  override name = 'ImportWorkerError';
}

/** The run exceeded its memory limit and would do so again. */
export class ImportOutOfMemory extends Error {
  override name = 'ImportOutOfMemory';
}

/**
 * Runs an import in a worker thread with its own database connection and file store, so that it never blocks this event
 * loop.
 * @param url of the built module `import-worker`
 * @param signals `cancelled` ends the run with a result; `abandoned` ends it without one, because another instance has the
 *   job or the process exits
 * @param onProgress called at most twice a second
 * @throws the reason of `abandoned`; ImportOutOfMemory; ImportWorkerError for failures that are not the report's
 */
export async function runImportInWorker(
  url: URL,
  data: ImportWorkerData,
  { cancelled, abandoned }: { cancelled: AbortSignal; abandoned: AbortSignal },
  onProgress: (progress: WorkerProgress) => void,
): Promise<{ outcome: ImportOutcome; progress: WorkerProgress }> {
  abandoned.throwIfAborted();
  const worker = new Worker(url, {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: data.memory, maxYoungGenerationSizeMb: YOUNG_GENERATION_SIZE },
  });
  let lastMessage: Exclude<ImportWorkerMessage, { progress: WorkerProgress; outcome?: never }> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    worker.postMessage('stop', []);
    timer ??= setTimeout(() => void worker.terminate(), STOP_TIMEOUT);
  };
  cancelled.addEventListener('abort', stop, { once: true });
  abandoned.addEventListener('abort', stop, { once: true });
  if (cancelled.aborted) stop();
  try {
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: ImportWorkerMessage) => {
        if ('outcome' in message || 'failure' in message) lastMessage = message;
        else onProgress(message.progress);
      });
      worker.on('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? new ImportOutOfMemory(`The import exceeded its memory limit of ${data.memory} MiB.`, {
                cause: error,
              })
            : error,
        ),
      );
      worker.on('exit', () => resolve());
    });
  } finally {
    clearTimeout(timer);
    cancelled.removeEventListener('abort', stop);
    abandoned.removeEventListener('abort', stop);
  }
  abandoned.throwIfAborted();
  if (lastMessage === undefined) throw new ImportWorkerError('The import worker exited without a result.');
  if ('failure' in lastMessage) {
    const failure = new ImportWorkerError(`${lastMessage.failure.name}: ${lastMessage.failure.message}`);
    if (lastMessage.failure.stack !== undefined) failure.stack = lastMessage.failure.stack;
    throw failure;
  }
  return lastMessage;
}
