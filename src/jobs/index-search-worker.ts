import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseConfig } from '../db/database.ts';
import { openDatabase } from '../db/open-database.ts';
import { lowerThreadPriority } from '../lib/thread-priority.ts';
import { fillSearchIndex } from './fill-search-index.ts';

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
  const stopping = new AbortController();
  port.on('message', () => stopping.abort());
  // A crash loses index entries together with their removal from the queue.
  const db = await openDatabase({ ...database, relaxedDurability: true });
  try {
    await fillSearchIndex(db, { endedOnly, signal: stopping.signal });
  } finally {
    await db.close();
    port.close();
  }
}

if (parentPort !== null) {
  lowerThreadPriority();
  await indexUntilDone(parentPort, workerData as IndexWorkerData);
}
