import { Worker } from 'node:worker_threads';
import type { ImportOutcome } from '../../domain/imports/import-types.ts';
import type { ImportMessage, ThreadData, ThreadProgress } from './import-worker.ts';

/** In MiB: nearly all that a run makes is soon thrown away. */
const NURSERY_SIZE = 8;
/** How long, in ms, a thread that was told to end may take for the unit of work that it is in. */
const GRACE = 5_000;

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
 * @param url of the module `import-thread`, built
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
  let end: Exclude<ImportMessage, { progress: ThreadProgress; outcome?: never }> | undefined;
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
      worker.on('message', (message: ImportMessage) => {
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
