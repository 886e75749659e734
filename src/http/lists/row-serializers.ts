import type { Piece } from '../../domain/lists/define-list.ts';
import { csvLine } from './download.ts';
import { breathe } from '../streams.ts';

type Rows<Item> = AsyncIterable<Piece<Item>>;

/** Characters of rows that are written at once: where rows are large, others go between them. */
const WRITTEN_AT_ONCE = 64 * 1024;

/** Writes rows, some at a time; each is followed by its end. */
async function* write<Item>(items: readonly Item[], line: (item: Item) => string) {
  let text = '';
  for (const item of items) {
    text += line(item);
    if (text.length < WRITTEN_AT_ONCE) continue;
    yield text;
    text = '';
    await breathe();
  }
  if (text === '') return;
  yield text;
  await breathe();
}

/** @returns a page as JSON */
export async function wholeText<Item>(items: readonly Item[], row: (item: Item) => object): Promise<string> {
  let text = '[';
  let written = 0;
  for (const [index, item] of items.entries()) {
    text += (index === 0 ? '' : ',') + JSON.stringify(row(item));
    if (text.length - written < WRITTEN_AT_ONCE) continue;
    written = text.length;
    await breathe();
  }
  return `${text}]`;
}

/** A page as JSON, written as it is read. */
export async function* jsonOf<Item>(first: Piece<Item>, others: Rows<Item>, row: (item: Item) => object) {
  let separator = '[';
  const line = (item: Item) => {
    const text = separator + JSON.stringify(row(item));
    separator = ',';
    return text;
  };
  yield* write(first.items, line);
  for await (const { items } of others) yield* write(items, line);
  yield ']';
}

/** A list, a line of JSON a row. */
export async function* ndjsonOf<Item>(pieces: Rows<Item>, row: (item: Item) => object) {
  for await (const { items } of pieces) yield* write(items, (item) => `${JSON.stringify(row(item))}\n`);
}

/** A list as RFC 4180, with a header row. */
export async function* csvOf<Item>(
  pieces: Rows<Item>,
  row: (item: Item) => object,
  columns: readonly string[],
) {
  yield csvLine(columns);
  const line = (item: Item) => {
    const values = row(item) as Readonly<Record<string, unknown>>;
    return csvLine(columns.map((name) => values[name]));
  };
  for await (const { items } of pieces) yield* write(items, line);
}
