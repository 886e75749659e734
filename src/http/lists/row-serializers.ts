import type { RowBatch } from '../../domain/lists/list.ts';
import { takeTurn } from '../../lib/yield-to-event-loop.ts';
import { toCsvLine } from './csv.ts';

type RowBatches<Item> = AsyncIterable<RowBatch<Item>>;

/** Characters of rows to write before yielding to the event loop, as rows may be large. */
const CHUNK_LENGTH = 64 * 1024;

async function* writeLines<Item>(items: readonly Item[], line: (item: Item) => string) {
  let text = '';
  for (const item of items) {
    text += line(item);
    if (text.length < CHUNK_LENGTH) continue;
    yield text;
    text = '';
    await takeTurn();
  }
  if (text === '') return;
  yield text;
  await takeTurn();
}

/** Serializes a page as a JSON array. */
export async function toJsonArray<Item>(
  items: readonly Item[],
  row: (item: Item) => object,
): Promise<string> {
  let text = '[';
  let written = 0;
  for (const [index, item] of items.entries()) {
    text += (index === 0 ? '' : ',') + JSON.stringify(row(item));
    if (text.length - written < CHUNK_LENGTH) continue;
    written = text.length;
    await takeTurn();
  }
  return `${text}]`;
}

/** Streams a page as a JSON array. */
export async function* streamJson<Item>(
  first: RowBatch<Item>,
  otherBatches: RowBatches<Item>,
  row: (item: Item) => object,
) {
  let separator = '[';
  const line = (item: Item) => {
    const text = separator + JSON.stringify(row(item));
    separator = ',';
    return text;
  };
  yield* writeLines(first.items, line);
  for await (const { items } of otherBatches) yield* writeLines(items, line);
  yield separator === '[' ? '[]' : ']';
}

/** Streams a list as NDJSON. */
export async function* streamNdjson<Item>(batches: RowBatches<Item>, row: (item: Item) => object) {
  for await (const { items } of batches) yield* writeLines(items, (item) => `${JSON.stringify(row(item))}\n`);
}

/** Streams a list as CSV (RFC 4180) with a header row. */
export async function* streamCsv<Item>(
  batches: RowBatches<Item>,
  row: (item: Item) => object,
  columns: readonly string[],
) {
  yield toCsvLine(columns);
  const line = (item: Item) => {
    const values = row(item) as Readonly<Record<string, unknown>>;
    return toCsvLine(columns.map((name) => values[name]));
  };
  for await (const { items } of batches) yield* writeLines(items, line);
}
