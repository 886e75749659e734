import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseConfig } from '../db/engine.ts';
import { openDatabase } from '../db/open-database.ts';
import { fillSearch } from '../db/vulnerability-search.ts';
import { isImporting } from '../domain/imports/import-lifecycle.ts';
import { standBack } from '../runtime/thread-priority.ts';

/** Vulnerabilities in one unit of work: their words take some 0.2 ms each, and now and then 40 ms together. */
const AT_ONCE = 100;

/**
 * Has what waits for it be found by its words, until nothing waits, an import runs, which writes all the time, or it is told
 * to end.
 */
async function fillInThread(port: NonNullable<typeof parentPort>, database: DatabaseConfig): Promise<void> {
  let isStopping = false;
  port.on('message', () => (isStopping = true));
  // What is lost with the power waits again.
  const db = await openDatabase({ ...database, durableLater: true });
  try {
    while (!isStopping) {
      const began = performance.now();
      if ((await db.write((tx) => fillSearch(tx, AT_ONCE))) === 0 || (await isImporting(db.read))) return;
      // As long again is for others who write.
      await delay(performance.now() - began);
    }
  } finally {
    await db.close();
    port.close();
  }
}

if (parentPort !== null) {
  standBack();
  await fillInThread(parentPort, workerData as DatabaseConfig);
}
