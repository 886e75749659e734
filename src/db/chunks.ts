import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/**
 * Rows per statement: on SQLite, a statement for all rows of a large request would block the event loop for too long.
 */
export const CHUNK_ROWS = 2_000;

/** @param size less than 1 counts as 1 */
export function* chunked<T>(list: readonly T[], size = CHUNK_ROWS): Generator<readonly T[]> {
  const step = Math.max(1, Math.floor(size));
  for (let start = 0; start < list.length; start += step) yield list.slice(start, start + step);
}

/** Rows. Writing that many with their events blocks the event loop for some milliseconds. */
const YIELDING_CHUNK_ROWS = 100;

/** Splits a list into chunks and yields the event loop after each, so that other requests are served meanwhile. */
export async function* yieldingChunks<T>(
  list: readonly T[],
  size = YIELDING_CHUNK_ROWS,
): AsyncGenerator<readonly T[]> {
  for (const chunk of chunked(list, size)) {
    yield chunk;
    await yieldToEventLoop();
  }
}
