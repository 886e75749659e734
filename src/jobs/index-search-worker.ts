import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseConfig } from '../db/engine.ts';
import { openDatabase } from '../db/open-database.ts';
import { indexPending } from '../db/vulnerability-search.ts';
import { isImportRunning } from '../domain/imports/import-lifecycle.ts';
import { lowerThreadPriority } from '../runtime/thread-priority.ts';

/** Vulnerabilities per transaction. Indexing takes about 0.2 ms each, and an occasional merge of the index 40 ms. */
const BATCH_SIZE = 100;

/** Indexes queued vulnerabilities until the queue is empty, an import starts, or the parent sends a message. */
async function indexUntilDone(port: NonNullable<typeof parentPort>, database: DatabaseConfig): Promise<void> {
  let isStopping = false;
  port.on('message', () => (isStopping = true));
  // A crash loses index entries together with their removal from the queue.
  const db = await openDatabase({ ...database, relaxedDurability: true });
  try {
    while (!isStopping) {
      const startedAt = performance.now();
      if ((await db.write((tx) => indexPending(tx, BATCH_SIZE))) === 0 || (await isImportRunning(db.read)))
        return;
      // Leaves half of the time to other writers.
      await delay(performance.now() - startedAt);
    }
  } finally {
    await db.close();
    port.close();
  }
}

if (parentPort !== null) {
  lowerThreadPriority();
  await indexUntilDone(parentPort, workerData as DatabaseConfig);
}
