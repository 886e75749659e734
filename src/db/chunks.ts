/**
 * Rows per statement. On SQLite, one statement for all rows of a large request would block the event loop for too long.
 */
export const CHUNK_ROWS = 2_000;

/** @param size less than 1 counts as 1 */
export function* chunked<T>(list: readonly T[], size = CHUNK_ROWS): Generator<readonly T[]> {
  const step = Math.max(1, Math.floor(size));
  for (let start = 0; start < list.length; start += step) yield list.slice(start, start + step);
}
