import type { Filters, ListContext } from './filters.ts';
import type { RowPosition } from './keyset.ts';
import type { List, RowBatch, ListRequest } from './define-list.ts';

/** Milliseconds that a piece may take: they hold the event loop where the database is in this process. */
const MAX_BATCH_MS = 20;
const MIN_BATCH_MS = 10;
/** A download begins with as many rows, as nobody knows how large they are. */
const FIRST_BATCH_SIZE = 50;
const MAX_BATCH_SIZE = 400;

/**
 * Reads what a selection has, piece by piece, each behind the last. Pieces of a whole list grow and shrink with the time
 * that they take, and the next one is asked for while somebody has the last.
 * @param start a place, or how many rows are passed over
 * @param limit the most rows in all; `Infinity` for the whole list
 */
export async function* readBatches<Item, F extends Filters, O extends string>(
  list: List<Item, F, O>,
  reading: ListContext,
  selection: ListRequest<F, O>,
  start: RowPosition | number,
  limit: number,
): AsyncGenerator<RowBatch<Item>> {
  const isWhole = limit === Infinity;
  let size = isWhole ? Math.min(FIRST_BATCH_SIZE, list.batchSize) : list.batchSize;
  let left = limit;
  const read = async (from: RowPosition | number) => {
    const wanted = Math.min(left, size);
    left -= wanted;
    const began = performance.now();
    const piece = await list.read(reading, selection, from, wanted);
    const took = performance.now() - began;
    if (isWhole && took < MIN_BATCH_MS) size = Math.min(2 * size, MAX_BATCH_SIZE);
    else if (isWhole && took > MAX_BATCH_MS) size = Math.max(Math.floor(size / 2), 1);
    return piece;
  };
  for (
    let next: Promise<RowBatch<Item>> | undefined = left > 0 ? read(start) : undefined;
    next !== undefined;
  ) {
    const piece: RowBatch<Item> = await next;
    next = piece.last !== undefined && piece.more && left > 0 ? read(piece.last) : undefined;
    // Whoever takes no more does not learn of it.
    next?.catch(() => undefined);
    if (piece.items.length > 0) yield piece;
  }
}
