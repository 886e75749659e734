import { toCsvLine } from '../http/lists/row-serializers.ts';
import { pluralize, table, writeText } from './print.ts';

export type JsonRow = Readonly<Record<string, unknown>>;
export type RowFormat = 'table' | 'json' | 'jsonl' | 'csv';

/** Rows that are written together: what a page has, about. */
const TABLE_BATCH = 200;
const MAX_CELL_WIDTH = 60;

/**
 * Writes rows as they come, whatever their number.
 * @param columns of a CSV, in this order, and of a table
 */
export async function printRows(
  rows: AsyncIterable<JsonRow>,
  format: RowFormat,
  columns: { all: readonly string[]; table: readonly string[] },
  empty: string,
): Promise<void> {
  if (format === 'table') return printTable(rows, columns.table, empty);
  if (format === 'csv') {
    await writeText(toCsvLine(columns.all));
    for await (const piece of batchRows(rows))
      await writeText(piece.map((row) => toCsvLine(columns.all.map((name) => row[name]))).join(''));
    return;
  }
  if (format === 'jsonl') {
    for await (const piece of batchRows(rows))
      await writeText(piece.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return;
  }
  let before = '[';
  for await (const piece of batchRows(rows)) {
    await writeText(before + piece.map((row) => JSON.stringify(row)).join(','));
    before = ',';
  }
  await writeText(before === '[' ? '[]\n' : ']\n');
}

async function printTable(
  rows: AsyncIterable<JsonRow>,
  names: readonly string[],
  empty: string,
): Promise<void> {
  const columns = Object.fromEntries(
    names.map((name) => [formatHeading(name), (row: JsonRow) => formatCell(row[name])] as const),
  );
  let widths: number[] = [];
  for await (const piece of batchRows(rows)) {
    // A later piece keeps to the columns of the first one, and has no heading of its own.
    const lines = table(piece, columns, empty, widths);
    await writeText(`${lines.slice(widths.length === 0 ? 0 : 1).join('\n')}\n`);
    if (widths.length === 0) widths = columnWidths(piece, names);
  }
  if (widths.length === 0) await writeText(`${empty}\n`);
}

function columnWidths(rows: readonly JsonRow[], names: readonly string[]): number[] {
  return names.map((name) =>
    Math.max(formatHeading(name).length, ...rows.map((row) => [...formatCell(row[name])].length)),
  );
}

async function* batchRows(rows: AsyncIterable<JsonRow>): AsyncGenerator<readonly JsonRow[]> {
  let piece: JsonRow[] = [];
  for await (const row of rows) {
    piece.push(row);
    if (piece.length < TABLE_BATCH) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

function formatHeading(name: string): string {
  return name
    .replace(/[A-Z]/g, (letter) => ` ${letter}`)
    .replaceAll('_', ' ')
    .toUpperCase();
}

/** What tells one thing from another, of those that are a part of a row. */
const NAME_FIELDS = ['name', 'filename', 'email', 'uid', 'text', 'title', 'status', 'id', 'kind'];
/** The same of what is no thing, but some members of one. */
const NESTED_NAME_FIELDS = ['name', 'filename', 'email', 'kind'];

/** @returns a value in a few words */
export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return truncate(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return truncate(value.map(formatCell).join(', '));
  const row = value as JsonRow;
  const names = 'id' in row || 'uid' in row ? NAME_FIELDS : NESTED_NAME_FIELDS;
  const named = names.map((name) => row[name]).find((one) => one !== null && one !== undefined);
  return named === undefined ? truncate(formatMembers(row)) : formatCell(named);
}

/** @returns what is told of some members: only counts of something, and no id that its name stands beside */
function formatMembers(row: JsonRow): string {
  const members = Object.entries(row);
  if (members.length > 0 && members.every(([, count]) => typeof count === 'number')) {
    const counts = members.filter(([, count]) => count !== 0);
    return counts.length === 0
      ? 'nothing'
      : counts.map(([name, count]) => formatCount(name, Number(count))).join(', ');
  }
  const told = members.filter(([name]) => !(name.endsWith('_id') && name.slice(0, -3) in row));
  const [only] = told;
  if (told.length === 1 && only !== undefined && typeof only[1] === 'object') return formatCell(only[1]);
  return told.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${formatCell(value) || '-'}`).join(', ');
}

/** `days_7` is no number of days: what is counted is as old as that. */
function formatCount(name: string, count: number): string {
  const ofDays = /^days_(\d+)$/.exec(name);
  return ofDays === null
    ? pluralize(count, formatHeading(name).toLowerCase())
    : `${count} within ${pluralize(Number(ofDays[1]), 'days')}`;
}

function truncate(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return [...line].length <= MAX_CELL_WIDTH ? line : `${[...line].slice(0, MAX_CELL_WIDTH - 1).join('')}…`;
}
