import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Context } from '../runtime/context.ts';
import { isImportRunning } from '../domain/imports/import-lifecycle.ts';
import { DIST } from '../paths.ts';
import type { JobHandler } from './runner.ts';

const INTERVAL = 10_000;
/** Small: each row is read once, and the garbage of a batch is short-lived. */
const [PAGE_CACHE_MIB, YOUNG_GENERATION_MIB] = [4, 2];

/** Adds imported vulnerabilities to the search index, on a worker thread: filling the index would block the event loop. */
export const indexSearchJob = ({ db, config }: Context): JobHandler => ({
  kind: 'index-search',
  interval: INTERVAL,
  maxAttempts: 3,
  async run({ signal }) {
    const [queued] = await db.read.selectFrom('search_index_queue').select('first_id').limit(1).execute();
    // A running import writes all the time, and gets the memory to itself.
    if (queued === undefined || (await isImportRunning(db.read))) return;
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
});
