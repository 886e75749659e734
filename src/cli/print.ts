import { once } from 'node:events';
import { streams } from './streams.ts';

type Cell = string | number | boolean | null | undefined;

/** Prints a value as one line of JSON. */
export function printJson(value: unknown): void {
  streams().stdout.write(`${JSON.stringify(value)}\n`);
}

/** Writes text. Resolves when standard output accepts more, so that a slow reader does not fill the memory. */
export async function writeText(text: string): Promise<void> {
  const { stdout } = streams();
  if (!stdout.write(text)) await once(stdout, 'drain');
}

/**
 * Returns a count with its noun: `1 finding gone`, `2 findings gone`.
 * @param noun noun in the plural, optionally followed by other words: `findings gone`
 */
export function pluralize(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun.replace(/^(\w*(?:ss|x|ch|us))es\b|^(\w*[^su\W])s\b/, '$1$2') : noun}`;
}

export function printLines(...lines: readonly string[]): void {
  streams().stdout.write(`${lines.join('\n')}\n`);
}

/**
 * Formats rows as lines of aligned columns below a heading.
 * @param columns heading and value of each column
 * @param empty the line to print if there are no rows
 * @param widths minimum widths of the columns, in characters
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
    ...rows.map((row) => Object.values(columns).map((column) => formatValue(column(row)))),
  ];
  return align(cells, widths);
}

export function keyValueLines(values: Readonly<Record<string, Cell>>): string[] {
  return align(Object.entries(values).map(([name, value]) => [name, formatValue(value)]));
}

/** Quotes a text for a shell, if necessary. */
export function printableArgument(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns ` --data DIRECTORY` for a command to paste, and nothing for the default directory. */
export const dataOption = (data: string | undefined): string =>
  data === undefined ? '' : ` --data ${printableArgument(data)}`;

function align(rows: readonly (readonly string[])[], minWidths: readonly number[] = []): string[] {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(minWidths[column] ?? 0, ...rows.map((row) => [...(row[column] ?? '')].length)),
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
  // Control characters in user input must not move the cursor or colour the terminal.
  return String(value).replace(/\p{Cc}/gu, '�');
}
