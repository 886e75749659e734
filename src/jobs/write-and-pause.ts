import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Transaction } from '../db/database.ts';

/** Waits for some milliseconds, or until the signal is aborted. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** Never throws: the caller checks the signal before its next transaction. */
export const pauseUnlessAborted: Pause = async (milliseconds, signal) => {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
};

/**
 * Runs a transaction, then pauses for as long as it took, so that other writers get half of the time. Its wait for
 * their transactions does not count: the work would slow down until it never caught up.
 */
export async function writeAndPause<T>(
  db: Database,
  transaction: (tx: Transaction) => Promise<T>,
  signal: AbortSignal,
  pause: Pause = pauseUnlessAborted,
): Promise<T> {
  let duration = 0;
  const result = await db.write(async (tx) => {
    const startedAt = performance.now();
    const value = await transaction(tx);
    duration = performance.now() - startedAt;
    return value;
  });
  await pause(duration, signal);
  return result;
}
