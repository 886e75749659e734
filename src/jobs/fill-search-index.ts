import type { Database, Engine } from '../db/database.ts';
import { indexPending, mergeIndexedRows } from '../db/vulnerability-search.ts';
import { writeAndPause } from './write-and-pause.ts';

/**
 * Vulnerabilities per transaction. On SQLite, indexing takes about 0.2 ms each, and an occasional merge of the index
 * 40 ms, while nobody else writes. On PostgreSQL, only those wait who delete the same vulnerabilities or change their
 * words.
 */
const BATCH_SIZE: Readonly<Record<Engine, number>> = { sqlite: 100, postgres: 500 };
/** The batch size for long queues: faster overall, but each transaction blocks other writers for twice as long. */
const LARGE_BATCH_SIZE = 500;
const LARGE_QUEUE = 50_000;

/**
 * Indexes queued vulnerabilities until the queue is empty or the signal is aborted. Several instances may do so at once.
 * @param options `endedOnly`: whether vulnerabilities of running imports stay in the queue
 */
export async function fillSearchIndex(
  db: Database,
  { endedOnly, signal }: { endedOnly: boolean; signal: AbortSignal },
): Promise<void> {
  const batchSize = BATCH_SIZE[db.engine];
  let last = 0;
  let size = batchSize;
  while (!signal.aborted) {
    const { queued, organizationId, left } = await writeAndPause(
      db,
      (tx) => indexPending(tx, size, last, endedOnly),
      signal,
    );
    if (queued === 0) break;
    last = organizationId;
    size = left > LARGE_QUEUE ? LARGE_BATCH_SIZE : batchSize;
  }
  if (last !== 0) await db.write(mergeIndexedRows);
}
