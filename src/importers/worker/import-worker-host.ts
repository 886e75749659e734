import type { ImportOutcome } from '../../domain/imports/import-types.ts';
import { acquireProcess, releaseProcess } from './import-processes.ts';
import type {
  ImportWorkerCommand,
  ImportWorkerData,
  ImportWorkerMessage,
  WorkerProgress,
} from './import-worker.ts';

/** Characters of a worker's stderr that are kept: enough for V8's output before it aborts. */
const MAX_ERROR_OUTPUT = 16_000;
/** Milliseconds that a stopping worker has to finish its transaction. */
const STOP_TIMEOUT = 5_000;
/** Milliseconds without a message after which a worker counts as stuck: one that waits still sends messages. */
export const SILENCE_LIMIT = 60_000;
/**
 * Milliseconds without progress after which a worker counts as stuck even if it sends messages or groups findings.
 * Every wait for the database or the file store ends earlier.
 */
export const IDLE_LIMIT = 600_000;
/** Milliseconds. Counting checks instead of reading the clock excludes time when the process was suspended or busy. */
const CHECK_INTERVAL = 5_000;

/** Matches V8's output before it aborts a process at its memory limit. */
const OUT_OF_MEMORY = /^FATAL ERROR: .* out of memory$/m;

/** The run ended without a result through no fault of the report; it may be retried. */
class ImportWorkerError extends Error {
  override name = 'ImportWorkerError';
}

/** The run exceeded its memory limit and would do so again. */
export class ImportOutOfMemory extends Error {
  override name = 'ImportOutOfMemory';
}

/** The run made no progress and would do so again. */
export class ImportStuck extends Error {
  override name = 'ImportStuck';
  /** Milliseconds without progress. */
  readonly duration: number;

  constructor(duration: number) {
    super(`The import made no progress for ${duration / 1_000} seconds.`);
    this.duration = duration;
  }
}

/**
 * Runs an import in another process, with its own database connection and file store: it never blocks this event loop,
 * and if it runs out of memory or is killed, this process goes on (ADR 94). A process that has ended a run may take the
 * next one (ADR 106).
 * @param url of the built module `import-worker`
 * @param signals `cancelled` ends the run with a result; `abandoned` ends it without one, because another instance has
 *   the job or the process exits
 * @param onProgress called at most twice a second, and every few seconds without progress
 * @throws the reason of `abandoned`
 * @throws ImportOutOfMemory
 * @throws ImportStuck after `SILENCE_LIMIT` without a message or `IDLE_LIMIT` without progress, once the worker has
 *   ended and its transaction is rolled back
 * @throws ImportWorkerError for failures that are not the report's
 */
export async function runImportInWorker(
  url: URL,
  data: ImportWorkerData,
  { cancelled, abandoned }: { cancelled: AbortSignal; abandoned: AbortSignal },
  onProgress: (progress: WorkerProgress) => void,
): Promise<{ outcome: ImportOutcome; progress: WorkerProgress }> {
  abandoned.throwIfAborted();
  const worker = acquireProcess(url, data.memory);
  // Ignores that a worker which has ended receives nothing: its `close` event reports the end.
  const send = (message: ImportWorkerCommand) => worker.send(message, () => undefined);
  let lastMessage: LastMessage | undefined;
  let errorOutput = '';
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    send('stop');
    timer ??= setTimeout(() => worker.kill('SIGKILL'), STOP_TIMEOUT);
  };
  send(data);
  cancelled.addEventListener('abort', stop, { once: true });
  abandoned.addEventListener('abort', stop, { once: true });
  if (cancelled.aborted) stop();
  let stuck: ImportStuck | undefined;
  const watch = new ProgressWatch();
  const check = setInterval(() => {
    const duration = watch.check();
    if (duration === undefined || stuck !== undefined) return;
    stuck = new ImportStuck(duration);
    worker.kill('SIGKILL');
  }, CHECK_INTERVAL).unref();
  const onErrorOutput = (text: string) => (errorOutput = (errorOutput + text).slice(-MAX_ERROR_OUTPUT));
  worker.stderr?.setEncoding('utf8').on('data', onErrorOutput);
  let exit: number | NodeJS.Signals | null | undefined;
  try {
    exit = await new Promise((resolve, reject) => {
      worker.on('message', (message: ImportWorkerMessage) => {
        if (!('outcome' in message || 'failure' in message)) {
          watch.note(message);
          onProgress(message.progress);
          return;
        }
        lastMessage = message;
        if ('outcome' in message && !cancelled.aborted && !abandoned.aborted) resolve(undefined);
        // It has closed the database.
        else worker.kill('SIGKILL');
      });
      worker.on('error', reject);
      // `close` follows the last message and the end of stderr.
      worker.on('close', (code, signal) => resolve(signal ?? code));
    });
  } finally {
    clearTimeout(timer);
    clearInterval(check);
    cancelled.removeEventListener('abort', stop);
    abandoned.removeEventListener('abort', stop);
    for (const event of ['message', 'error', 'close']) worker.removeAllListeners(event);
    worker.stderr?.removeListener('data', onErrorOutput);
  }
  if (exit === undefined && lastMessage !== undefined && 'outcome' in lastMessage)
    releaseProcess(worker, url, data.memory, lastMessage.memory);
  abandoned.throwIfAborted();
  if (lastMessage === undefined && stuck !== undefined) throw stuck;
  if (lastMessage === undefined && OUT_OF_MEMORY.test(errorOutput))
    throw new ImportOutOfMemory(`The import exceeded its memory limit of ${data.memory} MiB.`);
  if (lastMessage === undefined)
    throw new ImportWorkerError(`The import worker exited with ${exit} and without a result: ${errorOutput}`);
  if ('failure' in lastMessage) {
    const failure = new ImportWorkerError(`${lastMessage.failure.name}: ${lastMessage.failure.message}`);
    if (lastMessage.failure.stack !== undefined) failure.stack = lastMessage.failure.stack;
    throw failure;
  }
  return lastMessage;
}

type LastMessage = Exclude<ImportWorkerMessage, { progress: WorkerProgress; outcome?: never }>;

/** Counts the checks since the last message and since the last progress. */
class ProgressWatch {
  #silent = 0;
  #idle = 0;
  #steps = 0;
  #isGrouping = false;

  note({
    progress: { steps },
    isGrouping = false,
  }: {
    progress: WorkerProgress;
    isGrouping?: boolean;
  }): void {
    this.#silent = 0;
    this.#isGrouping = isGrouping;
    if (steps === this.#steps) return;
    this.#steps = steps;
    this.#idle = 0;
  }

  /** @returns the limit that is exceeded, if one is */
  check(): number | undefined {
    this.#silent += 1;
    this.#idle += 1;
    if (this.#silent * CHECK_INTERVAL > SILENCE_LIMIT && !this.#isGrouping) return SILENCE_LIMIT;
    return this.#idle * CHECK_INTERVAL > IDLE_LIMIT ? IDLE_LIMIT : undefined;
  }
}
