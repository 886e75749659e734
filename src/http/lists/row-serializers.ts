import type { RowBatch } from '../../domain/lists/define-list.ts';
import { yieldToEventLoop } from '../../runtime/yield-to-event-loop.ts';

type RowBatches<Item> = AsyncIterable<RowBatch<Item>>;

/** Characters of rows to write before yielding to the event loop, as rows may be large. */
const CHUNK_LENGTH = 64 * 1024;

/** Serializes rows in chunks. */
async function* writeLines<Item>(items: readonly Item[], line: (item: Item) => string) {
  let text = '';
  for (const item of items) {
    text += line(item);
    if (text.length < CHUNK_LENGTH) continue;
    yield text;
    text = '';
    await yieldToEventLoop();
  }
  if (text === '') return;
  yield text;
  await yieldToEventLoop();
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
    await yieldToEventLoop();
  }
  return `${text}]`;
}

/** Streams a page as a JSON array. */
export async function* streamJson<Item>(
  first: RowBatch<Item>,
  others: RowBatches<Item>,
  row: (item: Item) => object,
) {
  let separator = '[';
  const line = (item: Item) => {
    const text = separator + JSON.stringify(row(item));
    separator = ',';
    return text;
  };
  yield* writeLines(first.items, line);
  for await (const { items } of others) yield* writeLines(items, line);
  yield ']';
}

/** Streams a list as NDJSON. */
export async function* streamNdjson<Item>(pieces: RowBatches<Item>, row: (item: Item) => object) {
  for await (const { items } of pieces) yield* writeLines(items, (item) => `${JSON.stringify(row(item))}\n`);
}

/** Streams a list as CSV (RFC 4180) with a header row. */
export async function* streamCsv<Item>(
  pieces: RowBatches<Item>,
  row: (item: Item) => object,
  columns: readonly string[],
) {
  yield toCsvLine(columns);
  const line = (item: Item) => {
    const values = row(item) as Readonly<Record<string, unknown>>;
    return toCsvLine(columns.map((name) => values[name]));
  };
  for await (const { items } of pieces) yield* writeLines(items, line);
}

/** One line of RFC 4180, with its line break. */
export function toCsvLine(values: readonly unknown[]): string {
  let line = '';
  for (let column = 0; column < values.length; column += 1)
    line += column === 0 ? toCsvCell(values[column]) : `,${toCsvCell(values[column])}`;
  return `${line}\r\n`;
}

/** Spreadsheets treat values that begin with one of these as formulas. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_ESCAPING = /[",\r\n]|^[=+\-@\t]/;
const NEEDS_QUOTES = /[",\r\n]/;
const QUOTES = /"/g;

function toCsvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' && value >= 0) return String(value);
  if (typeof value === 'object') {
    const text = toQuotedJson(value);
    return text === '[]' || text === '{}' ? text : `"${text}"`;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!NEEDS_ESCAPING.test(text)) return text;
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(guarded) ? `"${guarded.replace(QUOTES, '""')}"` : guarded;
}

/** Characters that JSON escapes, including lone surrogates. */
// eslint-disable-next-line no-control-regex -- those are the characters
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Serializes as `JSON.stringify` does, with each quote doubled: doubling them afterwards is slower. */
function toQuotedJson(value: unknown): string {
  if (typeof value === 'string')
    return ESCAPED.test(value) ? JSON.stringify(value).replace(QUOTES, '""') : `""${value}""`;
  if (typeof value === 'number' && Number.isInteger(value)) return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? toQuotedJson(item) : `,${toQuotedJson(item)}`;
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    const member = members[name];
    if (member !== undefined) text += (text === '' ? '' : ',') + toQuotedName(name) + toQuotedJson(member);
  }
  return `{${text}}`;
}

/** Property names as `toQuotedJson` writes them, with their colon. They are those of the schemas, and repeat. */
const quotedNames = new Map<string, string>();
const MAX_CACHED_NAMES = 1_000;

function toQuotedName(name: string): string {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  const text = `${toQuotedJson(name)}:`;
  if (quotedNames.size < MAX_CACHED_NAMES) quotedNames.set(name, text);
  return text;
}
