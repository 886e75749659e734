/** A page of a list. */
export interface PageRequest {
  /** Counted from 1. */
  page: number;
  perPage: number;
}

/** The rows of a page: `limit` rows after `offset`, counted from the end of the order if `reversed`. */
export interface PageWindow {
  offset: number;
  limit: number;
  reversed: boolean;
}

/**
 * Reads from the nearer end of the order, so that the last page costs no more than the first.
 * @param rows the number of rows in the order
 * @param offset the number of rows before the page
 * @param length the number of rows on a page
 * @returns `undefined` for a page without rows
 */
export function pageWindow(rows: number, offset: number, length: number): PageWindow | undefined {
  const limit = Math.min(length, rows - offset);
  if (limit <= 0) return undefined;
  return offset > rows / 2
    ? { offset: rows - offset - limit, limit, reversed: true }
    : { offset, limit, reversed: false };
}

/** @returns the rows of a window in the order of the list */
export function restoreOrder<T>(rows: T[], { reversed }: PageWindow): T[] {
  return reversed ? rows.reverse() : rows;
}
