import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Context } from '../context.ts';
import { INDEX_ENDED_IMPORTS_JOB, isImportRunning } from '../domain/imports/import-lifecycle.ts';
import { DIST } from '../paths.ts';
import { fillSearchIndex } from './fill-search-index.ts';
import type { JobHandler } from './runner.ts';

const INTERVAL = 10_000;
/**
 * Milliseconds for which the queue waits while imports run: they write all the time, and get the memory to themselves.
 */
const MAX_WAIT = 60_000;
/** Small: each row is read once, and the garbage of a batch is short-lived. */
const [PAGE_CACHE_MIB, YOUNG_GENERATION_MIB] = [4, 2];

type FillOptions = Pick<Context, 'config' | 'db'> & { signal: AbortSignal; endedOnly: boolean };

/** Fills the index: PostgreSQL does the work itself, SQLite on a worker thread, because it would block the event loop. */
async function fillIndex({ config, db, signal, endedOnly }: FillOptions): Promise<void> {
  signal.throwIfAborted();
  if (db.engine === 'postgres') {
    await fillSearchIndex(db, { endedOnly, signal });
    signal.throwIfAborted();
    return;
  }
  const { dataDirectory, requestTimeout: timeout } = config;
  const worker = new Worker(new URL('index-search-worker.js', DIST), {
    workerData: { database: { dataDirectory, timeout, pageCache: PAGE_CACHE_MIB }, endedOnly },
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
}

/** Adds the vulnerabilities of imports that have ended to the search index, whatever else is imported. */
export const indexEndedImportsJob = ({ config, db }: Context): JobHandler => ({
  kind: INDEX_ENDED_IMPORTS_JOB,
  maxAttempts: 3,
  run: ({ signal }) => fillIndex({ config, db, signal, endedOnly: true }),
});

/**
 * Adds all imported vulnerabilities to the search index. Waits for running imports, but only so long: one may run for
 * hours.
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
      if (queued !== undefined) await fillIndex({ config, db, signal, endedOnly: false });
    },
  };
};
