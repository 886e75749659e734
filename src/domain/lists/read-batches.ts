import type { List, ListRequest, RowBatch } from './list.ts';
import type { RowPosition } from './sort-order.ts';
import type { Filters, ListContext } from './filters.ts';

/** Milliseconds above which the next batch shrinks: with SQLite, a read blocks the event loop. */
const MAX_BATCH_MS = 20;
/** Milliseconds below which the next batch grows. */
const MIN_BATCH_MS = 10;
/** Rows of a download's first batch, as their size is not known yet. */
const FIRST_BATCH_SIZE = 50;
const MAX_BATCH_SIZE = 400;

/**
 * Reads a list in batches, and reads the next batch while the caller handles the current one. When the whole list is
 * read, the batch size adapts to the time that a batch takes.
 * @param start the position or the number of rows to read after
 * @param limit the maximum number of rows; `Infinity` for the whole list
 * @param total the number of rows of the list, if it is known
 */
export async function* readBatches<Item, F extends Filters, O extends string>(
  list: List<Item, F, O>,
  context: ListContext,
  request: ListRequest<F, O>,
  start: RowPosition | number,
  limit: number,
  total?: number,
): AsyncGenerator<RowBatch<Item>> {
  const isWholeList = limit === Infinity;
  let size = isWholeList ? Math.min(FIRST_BATCH_SIZE, list.batchSize) : list.batchSize;
  let remaining = limit;
  const read = async (from: RowPosition | number) => {
    const startedAt = performance.now();
    const batch = await list.read(context, request, from, Math.min(remaining, size), total);
    remaining -= batch.rows;
    const duration = performance.now() - startedAt;
    if (isWholeList && duration < MIN_BATCH_MS) size = Math.min(2 * size, MAX_BATCH_SIZE);
    else if (isWholeList && duration > MAX_BATCH_MS) size = Math.max(Math.floor(size / 2), 1);
    return batch;
  };
  for (
    let next: Promise<RowBatch<Item>> | undefined = remaining > 0 ? read(start) : undefined;
    next !== undefined;
  ) {
    const batch: RowBatch<Item> = await next;
    next = batch.last !== undefined && batch.hasMore && remaining > 0 ? read(batch.last) : undefined;
    // A caller that stops early never awaits it.
    next?.catch(() => undefined);
    if (batch.rows > 0) yield batch;
  }
}
