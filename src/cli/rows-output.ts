import { csvLine } from '../http/lists/download.ts';
import { counted, table, writeText } from './output.ts';

export type Row = Readonly<Record<string, unknown>>;
export type RowFormat = 'table' | 'json' | 'jsonl' | 'csv';

/** Rows that are written together: what a page has, about. */
const PIECE = 200;
const WIDEST = 60;

/**
 * Writes rows as they come, whatever their number.
 * @param columns of a CSV, in this order, and of a table
 */
export async function printRows(
  rows: AsyncIterable<Row>,
  format: RowFormat,
  columns: { all: readonly string[]; table: readonly string[] },
  empty: string,
): Promise<void> {
  if (format === 'table') return printTable(rows, columns.table, empty);
  if (format === 'csv') {
    await writeText(csvLine(columns.all));
    for await (const piece of piecesOf(rows))
      await writeText(piece.map((row) => csvLine(columns.all.map((name) => row[name]))).join(''));
    return;
  }
  if (format === 'jsonl') {
    for await (const piece of piecesOf(rows))
      await writeText(piece.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return;
  }
  let before = '[';
  for await (const piece of piecesOf(rows)) {
    await writeText(before + piece.map((row) => JSON.stringify(row)).join(','));
    before = ',';
  }
  await writeText(before === '[' ? '[]\n' : ']\n');
}

async function printTable(rows: AsyncIterable<Row>, names: readonly string[], empty: string): Promise<void> {
  const columns = Object.fromEntries(
    names.map((name) => [headingOf(name), (row: Row) => cellOf(row[name])] as const),
  );
  let widths: number[] = [];
  for await (const piece of piecesOf(rows)) {
    // A later piece keeps to the columns of the first one, and has no heading of its own.
    const lines = table(piece, columns, empty, widths);
    await writeText(`${lines.slice(widths.length === 0 ? 0 : 1).join('\n')}\n`);
    if (widths.length === 0) widths = widthsOf(piece, names);
  }
  if (widths.length === 0) await writeText(`${empty}\n`);
}

function widthsOf(rows: readonly Row[], names: readonly string[]): number[] {
  return names.map((name) =>
    Math.max(headingOf(name).length, ...rows.map((row) => [...cellOf(row[name])].length)),
  );
}

async function* piecesOf(rows: AsyncIterable<Row>): AsyncGenerator<readonly Row[]> {
  let piece: Row[] = [];
  for await (const row of rows) {
    piece.push(row);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

function headingOf(name: string): string {
  return name
    .replace(/[A-Z]/g, (letter) => ` ${letter}`)
    .replaceAll('_', ' ')
    .toUpperCase();
}

/** What tells one thing from another, of those that are a part of a row. */
const NAMES = ['name', 'filename', 'email', 'uid', 'text', 'title', 'status', 'id', 'kind'];
/** The same of what is no thing, but some members of one. */
const NAMES_OF_PARTS = ['name', 'filename', 'email', 'kind'];

/** @returns a value in a few words */
export function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return cut(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return cut(value.map(cellOf).join(', '));
  const row = value as Row;
  const names = 'id' in row || 'uid' in row ? NAMES : NAMES_OF_PARTS;
  const named = names.map((name) => row[name]).find((one) => one !== null && one !== undefined);
  return named === undefined ? cut(membersOf(row)) : cellOf(named);
}

/** @returns what is told of some members: only counts of something, and no id that its name stands beside */
function membersOf(row: Row): string {
  const members = Object.entries(row);
  if (members.length > 0 && members.every(([, count]) => typeof count === 'number')) {
    const counts = members.filter(([, count]) => count !== 0);
    return counts.length === 0
      ? 'nothing'
      : counts.map(([name, count]) => countOf(name, Number(count))).join(', ');
  }
  const told = members.filter(([name]) => !(name.endsWith('_id') && name.slice(0, -3) in row));
  const [only] = told;
  if (told.length === 1 && only !== undefined && typeof only[1] === 'object') return cellOf(only[1]);
  return told.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${cellOf(value) || '-'}`).join(', ');
}

/** `days_7` is no number of days: what is counted is as old as that. */
function countOf(name: string, count: number): string {
  const ofDays = /^days_(\d+)$/.exec(name);
  return ofDays === null
    ? counted(count, headingOf(name).toLowerCase())
    : `${count} within ${counted(Number(ofDays[1]), 'days')}`;
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return [...line].length <= WIDEST ? line : `${[...line].slice(0, WIDEST - 1).join('')}…`;
}
