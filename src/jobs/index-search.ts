import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Context } from '../runtime/context.ts';
import { isImportRunning } from '../domain/imports/import-lifecycle.ts';
import { DIST } from '../paths.ts';
import type { JobHandler } from './runner.ts';

const INTERVAL = 10_000;
/** Milliseconds for which the queue waits while imports run: they write all the time, and get the memory to themselves. */
const MAX_WAIT = 60_000;
/** Small: each row is read once, and the garbage of a batch is short-lived. */
const [PAGE_CACHE_MIB, YOUNG_GENERATION_MIB] = [4, 2];

/**
 * Adds imported vulnerabilities to the search index, on a worker thread: filling the index would block the event loop.
 * Waits for running imports, but only so long: there may always be one.
 */
export const indexSearchJob = ({ db, config, clock }: Context): JobHandler => {
  /** Since when the queue has waited for imports. */
  let waitingSince: number | undefined;
  const isWaiting = async (): Promise<boolean> => {
    const now = clock();
    if (!(await isImportRunning(db.read, now))) return false;
    waitingSince ??= now;
    return now - waitingSince < MAX_WAIT;
  };
  return {
    kind: 'index-search',
    interval: INTERVAL,
    maxAttempts: 3,
    async run({ signal }) {
      const [queued] = await db.read.selectFrom('search_index_queue').select('first_id').limit(1).execute();
      if (queued !== undefined && (await isWaiting())) return;
      waitingSince = undefined;
      if (queued === undefined) return;
      signal.throwIfAborted();
      const { databaseUrl, dataDirectory, requestTimeout: timeout } = config;
      const worker = new Worker(new URL('index-search-worker.js', DIST), {
        workerData: { databaseUrl, dataDirectory, timeout, pageCache: PAGE_CACHE_MIB },
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
      });
      const stop = (): void => worker.postMessage('stop', []);
      signal.addEventListener('abort', stop, { once: true });
      try {
        await once(worker, 'exit');
      } finally {
        signal.removeEventListener('abort', stop);
      }
      signal.throwIfAborted();
    },
  };
};
