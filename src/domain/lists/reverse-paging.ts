/** Which page of a list is wanted. */
export interface PageRequest {
  /** Counted from 1. */
  page: number;
  perPage: number;
}

/** Where a page is read: `limit` rows after `offset`, counted from the end and in reverse order when `reversed`. */
export interface PageWindow {
  offset: number;
  limit: number;
  reversed: boolean;
}

/**
 * Rows are read from the nearer end of their order, so that the last page costs no more than the first.
 * @param rows how many rows the order has
 * @param offset how many of them come before the wanted ones
 * @param length how many are wanted
 * @returns the window, or nothing when no row is in it
 */
export function pageWindow(rows: number, offset: number, length: number): PageWindow | undefined {
  const limit = Math.min(length, rows - offset);
  if (limit <= 0) return undefined;
  return offset > rows / 2
    ? { offset: rows - offset - limit, limit, reversed: true }
    : { offset, limit, reversed: false };
}

/** @returns the rows of a window in the order that was wanted */
export function restoreOrder<T>(rows: T[], { reversed }: PageWindow): T[] {
  return reversed ? rows.reverse() : rows;
}
