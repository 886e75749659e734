import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseConfig } from '../db/database.ts';
import { openDatabase } from '../db/open-database.ts';
import { indexPending } from '../db/vulnerability-search.ts';
import { lowerThreadPriority } from '../lib/thread-priority.ts';

/** Vulnerabilities per transaction. Indexing takes about 0.2 ms each, and an occasional merge of the index 40 ms. */
const BATCH_SIZE = 100;
/** The batch size for long queues: faster overall, but each transaction blocks other writers for twice as long. */
const LARGE_BATCH_SIZE = 500;
const LARGE_QUEUE = 50_000;

interface IndexWorkerData {
  database: DatabaseConfig;
  /** Whether vulnerabilities of running imports stay in the queue. */
  endedOnly: boolean;
}

/** Indexes queued vulnerabilities until the queue is empty or the parent sends a message. */
async function indexUntilDone(
  port: NonNullable<typeof parentPort>,
  { database, endedOnly }: IndexWorkerData,
): Promise<void> {
  let isStopping = false;
  port.on('message', () => (isStopping = true));
  // A crash loses index entries together with their removal from the queue.
  const db = await openDatabase({ ...database, relaxedDurability: true });
  try {
    let last = 0;
    let size = BATCH_SIZE;
    while (!isStopping) {
      let duration = 0;
      const { queued, organizationId, left } = await db.write(async (tx) => {
        const startedAt = performance.now();
        const range = await indexPending(tx, size, last, endedOnly);
        duration = performance.now() - startedAt;
        return range;
      });
      if (queued === 0) return;
      last = organizationId;
      size = left > LARGE_QUEUE ? LARGE_BATCH_SIZE : BATCH_SIZE;
      // Leaves half of the time to other writers. The wait for their transactions does not count: a running import
      // would slow the index down until it never caught up.
      await delay(duration);
    }
  } finally {
    await db.close();
    port.close();
  }
}

if (parentPort !== null) {
  lowerThreadPriority();
  await indexUntilDone(parentPort, workerData as IndexWorkerData);
}
