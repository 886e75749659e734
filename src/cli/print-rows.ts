import { toCsvLine } from '../http/lists/csv.ts';
import { pluralize, table, writeText } from './print.ts';

export type JsonRow = Readonly<Record<string, unknown>>;
export type RowFormat = 'table' | 'json' | 'jsonl' | 'csv';

/** Rows per write, about one page. */
const TABLE_BATCH = 200;
/** Characters of a cell; longer values are truncated. */
const MAX_CELL_WIDTH = 60;

/**
 * Writes rows as they arrive, in constant memory.
 * @param columns names of the columns: `all` for CSV, `table` for a table
 * @param empty printed instead of a table without rows
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
    for await (const batch of batchRows(rows))
      await writeText(batch.map((row) => toCsvLine(columns.all.map((name) => row[name]))).join(''));
    return;
  }
  if (format === 'jsonl') {
    for await (const batch of batchRows(rows))
      await writeText(batch.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return;
  }
  let before = '[';
  for await (const batch of batchRows(rows)) {
    await writeText(before + batch.map((row) => JSON.stringify(row)).join(','));
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
  for await (const batch of batchRows(rows)) {
    // Later batches use the widths of the first one and have no heading.
    const lines = table(batch, columns, empty, widths);
    await writeText(`${lines.slice(widths.length === 0 ? 0 : 1).join('\n')}\n`);
    if (widths.length === 0) widths = columnWidths(batch, names);
  }
  if (widths.length === 0) await writeText(`${empty}\n`);
}

function columnWidths(rows: readonly JsonRow[], names: readonly string[]): number[] {
  return names.map((name) =>
    Math.max(formatHeading(name).length, ...rows.map((row) => [...formatCell(row[name])].length)),
  );
}

async function* batchRows(rows: AsyncIterable<JsonRow>): AsyncGenerator<readonly JsonRow[]> {
  let batch: JsonRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < TABLE_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function formatHeading(name: string): string {
  return name
    .replace(/[A-Z]/g, (letter) => ` ${letter}`)
    .replaceAll('_', ' ')
    .toUpperCase();
}

/** Fields that identify a nested object with an id or uid, by priority. */
const NAME_FIELDS = ['name', 'filename', 'email', 'uid', 'text', 'title', 'status', 'id', 'kind'];
/** Fields that identify any other nested object. */
const NESTED_NAME_FIELDS = ['name', 'filename', 'email', 'kind'];

export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return truncate(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return truncate(value.map(formatCell).join(', '));
  const row = value as JsonRow;
  const names = 'id' in row || 'uid' in row ? NAME_FIELDS : NESTED_NAME_FIELDS;
  const nameValue = names
    .map((name) => row[name])
    .find((candidate) => candidate !== null && candidate !== undefined);
  return nameValue === undefined ? truncate(formatMembers(row)) : formatCell(nameValue);
}

/** Formats an object. Leaves out counts of zero, and `x_id` if there is also `x`. */
function formatMembers(row: JsonRow): string {
  const members = Object.entries(row);
  if (members.length > 0 && members.every(([, count]) => typeof count === 'number')) {
    const counts = members.filter(([, count]) => count !== 0);
    return counts.length === 0
      ? 'none'
      : counts.map(([name, count]) => formatCount(name, Number(count))).join(', ');
  }
  const shownMembers = members.filter(([name]) => !(name.endsWith('_id') && name.slice(0, -3) in row));
  const [onlyMember] = shownMembers;
  if (shownMembers.length === 1 && onlyMember !== undefined && typeof onlyMember[1] === 'object')
    return formatCell(onlyMember[1]);
  return shownMembers
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${formatCell(value) || '-'}`)
    .join(', ');
}

/** Formats `days_7` as a count within seven days. */
function formatCount(name: string, count: number): string {
  const daysMatch = /^days_(\d+)$/.exec(name);
  return daysMatch === null
    ? pluralize(count, formatHeading(name).toLowerCase())
    : `${count} within ${pluralize(Number(daysMatch[1]), 'days')}`;
}

function truncate(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return [...line].length <= MAX_CELL_WIDTH ? line : `${[...line].slice(0, MAX_CELL_WIDTH - 1).join('')}…`;
}
