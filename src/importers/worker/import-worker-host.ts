import { Worker } from 'node:worker_threads';
import type { ImportOutcome } from '../../domain/imports/import-types.ts';
import type { ImportWorkerMessage, ImportWorkerData, WorkerProgress } from './import-worker.ts';

/** In MiB: nearly all that a run makes is soon thrown away. */
const YOUNG_GENERATION_SIZE = 8;
/** How long, in ms, a thread that was told to end may take for the unit of work that it is in. */
const STOP_TIMEOUT = 5_000;

/** The end of a run that this process could not bring to an end; it may be run again. */
class ImportWorkerError extends Error {
  override name = 'ThreadFailure';
}

/** The end of a run that needed more memory than it may have, and would again. */
export class ImportOutOfMemory extends Error {
  override name = 'OutOfMemory';
}

/**
 * Runs an import in a thread with a database handle and a file store of its own, so that nothing of it holds the event loop
 * of this one.
 * @param url of the module `import-thread`, built
 * @param signals `cancelled` ends the run, which tells what was applied; `left` ends it because it is another's now, or the
 *   process ends
 * @param onProgress told at most twice a second
 * @throws the reason of `left`, OutOfMemory, ThreadFailure for what else is no fault of the report
 */
export async function runImportInWorker(
  url: URL,
  data: ImportWorkerData,
  { cancelled, left }: { cancelled: AbortSignal; left: AbortSignal },
  onProgress: (progress: WorkerProgress) => void,
): Promise<{ outcome: ImportOutcome; progress: WorkerProgress }> {
  left.throwIfAborted();
  const worker = new Worker(url, {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: data.memory, maxYoungGenerationSizeMb: YOUNG_GENERATION_SIZE },
  });
  let end: Exclude<ImportWorkerMessage, { progress: WorkerProgress; outcome?: never }> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    worker.postMessage('stop', []);
    timer ??= setTimeout(() => void worker.terminate(), STOP_TIMEOUT);
  };
  cancelled.addEventListener('abort', stop, { once: true });
  left.addEventListener('abort', stop, { once: true });
  if (cancelled.aborted) stop();
  try {
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: ImportWorkerMessage) => {
        if ('outcome' in message || 'failure' in message) end = message;
        else onProgress(message.progress);
      });
      worker.on('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? new ImportOutOfMemory(`An import needed more than ${data.memory} MiB.`, { cause: error })
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
  if (end === undefined) throw new ImportWorkerError('The thread of an import ended by itself.');
  if ('failure' in end) {
    const failure = new ImportWorkerError(`${end.failure.name}: ${end.failure.message}`);
    if (end.failure.stack !== undefined) failure.stack = end.failure.stack;
    throw failure;
  }
  return end;
}
