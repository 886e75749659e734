import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseConfig } from '../db/engine.ts';
import { openDatabase } from '../db/open-database.ts';
import { indexPending } from '../db/vulnerability-search.ts';
import { isImportRunning } from '../domain/imports/import-lifecycle.ts';
import { lowerThreadPriority } from '../runtime/thread-priority.ts';

/** Vulnerabilities in one unit of work: their words take some 0.2 ms each, and now and then 40 ms together. */
const BATCH_SIZE = 100;

/**
 * Has what waits for it be found by its words, until nothing waits, an import runs, which writes all the time, or it is told
 * to end.
 */
async function indexUntilDone(port: NonNullable<typeof parentPort>, database: DatabaseConfig): Promise<void> {
  let isStopping = false;
  port.on('message', () => (isStopping = true));
  // What is lost with the power waits again.
  const db = await openDatabase({ ...database, relaxedDurability: true });
  try {
    while (!isStopping) {
      const began = performance.now();
      if ((await db.write((tx) => indexPending(tx, BATCH_SIZE))) === 0 || (await isImportRunning(db.read)))
        return;
      // As long again is for others who write.
      await delay(performance.now() - began);
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
