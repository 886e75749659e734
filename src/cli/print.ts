import { once } from 'node:events';
import { streams } from './streams.ts';

type Cell = string | number | boolean | null | undefined;

/** Prints one value as JSON on a line of its own. */
export function printJson(value: unknown): void {
  streams().stdout.write(`${JSON.stringify(value)}\n`);
}

/** Writes text as it is. Resolves when more can be taken, so that a slow reader does not fill the memory. */
export async function writeText(text: string): Promise<void> {
  const { stdout } = streams();
  if (!stdout.write(text)) await once(stdout, 'drain');
}

/**
 * @param what a noun in the plural, and what may follow it: `findings gone`
 * @returns how many there are: `1 finding gone`, `2 findings gone`
 */
export function pluralize(count: number, what: string): string {
  return `${count} ${count === 1 ? what.replace(/^(\w*(?:ss|x|ch|us))es\b|^(\w*[^su\W])s\b/, '$1$2') : what}`;
}

/** Prints lines for people. */
export function printLines(...lines: readonly string[]): void {
  streams().stdout.write(`${lines.join('\n')}\n`);
}

/**
 * @param columns what to show, in this order: the heading and the field
 * @param widths what the columns have at least, in characters
 * @returns rows as lines of aligned columns, under a heading; `empty` when there are none
 */
export function table<Row extends object>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
  empty: string,
  widths: readonly number[] = [],
): string[] {
  if (rows.length === 0) return [empty];
  const cells = [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((of) => formatValue(of(row)))),
  ];
  return align(cells, widths);
}

/** @returns pairs of a name and a value as aligned lines */
export function keyValueLines(values: Readonly<Record<string, Cell>>): string[] {
  return align(Object.entries(values).map(([name, value]) => [name, formatValue(value)]));
}

/** @returns a text as a shell takes it for one word */
export function printableArgument(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function align(rows: readonly (readonly string[])[], least: readonly number[] = []): string[] {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(least[column] ?? 0, ...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd(),
  );
}

function formatValue(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  // Names come from people: nothing in them may move the cursor or colour the terminal.
  return String(value).replace(/\p{Cc}/gu, '�');
}
