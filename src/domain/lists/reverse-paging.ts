export interface PageRequest {
  /** Counted from 1. */
  page: number;
  perPage: number;
}

/** `limit` rows after `offset`, counted from the end of the order if `reversed`. */
interface PageWindow {
  offset: number;
  limit: number;
  reversed: boolean;
}

/** Adjacent rows of a list, read with one query. */
export interface ReadableRun<R> {
  rowCount: number;
  /** Reads rows in the order of the list, or in its exact opposite if `reversed`. */
  read(window: PageWindow): Promise<R[]>;
}

/**
 * Reads each run from its nearer end, so that the last page costs no more than the first.
 * @param runs the rows of the list, in its order
 * @param offset the number of rows before the page
 * @param length the number of rows on a page
 */
export async function readPage<R>(
  runs: readonly ReadableRun<R>[],
  offset: number,
  length: number,
): Promise<R[]> {
  const parts: Promise<R[]>[] = [];
  let [skip, missing] = [offset, length];
  for (const { rowCount, read } of runs) {
    const limit = Math.min(missing, rowCount - skip);
    if (limit > 0) {
      const reversed = skip > rowCount / 2;
      const part = read({ offset: reversed ? rowCount - skip - limit : skip, limit, reversed });
      parts.push(reversed ? part.then((page) => page.reverse()) : part);
      missing -= limit;
    }
    skip = Math.max(0, skip - rowCount);
  }
  return (await Promise.all(parts)).flat();
}

/**
 * @returns `prepare` with one result for each shape, prepared on first use; the members of a shape are simple values
 */
export function memoizeByShape<S extends object, Q>(prepare: (shape: S) => Q): (shape: S) => Q {
  const queries = new Map<string, Q>();
  return (shape) => {
    const key = Object.values(shape).join(' ');
    let query = queries.get(key);
    if (query === undefined) queries.set(key, (query = prepare(shape)));
    return query;
  };
}
