import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Context } from '../runtime/context.ts';
import { isImportRunning } from '../domain/imports/import-lifecycle.ts';
import { DIST } from '../paths.ts';
import type { JobHandler } from './runner.ts';

const INTERVAL = 10_000;
/** In MiB: each row is looked at once, and what a step makes is soon thrown away. */
const [PAGE_CACHE_MIB, YOUNG_GENERATION_MIB] = [4, 2];

/** Has what imports made be found by its words, in a thread: the index of words is large, and to fill it holds an event loop. */
export const indexSearchJob = ({ db, config }: Context): JobHandler => ({
  kind: 'search',
  interval: INTERVAL,
  maxAttempts: 3,
  async run({ signal }) {
    const some = await db.read.selectFrom('search_pending').select('first_id').limit(1).execute();
    // An import writes all the time, and has the memory to itself.
    if (some.length === 0 || (await isImportRunning(db.read))) return;
    signal.throwIfAborted();
    const { databaseUrl, dataDirectory, requestTimeout: timeout } = config;
    const worker = new Worker(new URL('search-thread.js', DIST), {
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
