import { Readable } from 'node:stream';
import { keyValueLines, printJson, printLines } from './print.ts';
import { CliError } from './errors.ts';
import { formatCell, printRows, type JsonRow } from './print-rows.ts';

/** Columns of a table by default. */
export const MAX_TABLE_COLUMNS = 6;

/**
 * Prints the response of an operation. Prints only the main fields of a resource that was created or updated.
 * @param path path parameters, printed for a response without a body
 * @throws CliError if an item of a batch failed
 */
export async function printResponse(
  data: unknown,
  path: Readonly<Record<string, string>>,
  method: string,
  { json }: { json?: boolean },
): Promise<void> {
  if (data === undefined || data === null || data === '') {
    if (json === true) return printJson({ ...path, done: true });
    return printLines(method === 'DELETE' ? 'Deleted.' : 'Done.');
  }
  const { results } = data as { results?: unknown };
  if (json === true) printJson(data);
  else if (Array.isArray(data)) return printRowTables(data as JsonRow[]);
  else if (nestedRows(data as JsonRow) !== undefined)
    return printRowTables(nestedRows(data as JsonRow) ?? []);
  else if (Array.isArray(results)) await printRowTables(results as JsonRow[]);
  if (Array.isArray(results)) return throwIfAnyFailed(results as JsonRow[]);
  if (json === true) return;
  printLines(
    ...keyValueLines(
      Object.fromEntries(
        Object.entries(method === 'GET' ? (data as JsonRow) : summarizeRows(data as JsonRow)).map(
          ([name, value]) => [
            name,
            typeof value === 'string' ? value.replace(/\s+/g, ' ') : formatCell(value),
          ],
        ),
      ),
    ),
  );
}

/** Main fields of a resource that was created or updated; `--json` prints all fields. */
const SUMMARY_FIELDS =
  'id uid title name email location severity status state criticality scopes expires_at token invite_url link'.split(
    ' ',
  );
/** Resources with at most this many fields are printed in full. */
const MAX_FIELDS = 8;

/** Fields that repeat other fields for older clients. */
const LEGACY_FIELDS = new Set(['body', 'User']);

function summarizeRows(data: JsonRow): JsonRow {
  const entries = Object.entries(data).filter(([name]) => !LEGACY_FIELDS.has(name));
  if (entries.length <= MAX_FIELDS) return Object.fromEntries(entries);
  return Object.fromEntries(SUMMARY_FIELDS.flatMap((name) => (name in data ? [[name, data[name]]] : [])));
}

/** Returns the rows of a response whose only member is a list of objects. */
function nestedRows(data: JsonRow): readonly JsonRow[] | undefined {
  const [singleValue, ...otherValues] = Object.values(data);
  const isList =
    Array.isArray(singleValue) &&
    singleValue.length > 0 &&
    singleValue.every((item) => typeof item === 'object');
  return isList && otherValues.length === 0 ? (singleValue as JsonRow[]) : undefined;
}

async function printRowTables(rows: readonly JsonRow[]): Promise<void> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_TABLE_COLUMNS);
  await printRows(Readable.from(rows), 'table', { all: names, table: names }, 'No results.');
}

function throwIfAnyFailed(results: readonly JsonRow[]): void {
  const failed = results.filter(({ status }) => status === 'error').length;
  if (failed > 0) throw new CliError(`${failed} of ${results.length} items failed. See errorDetail above.`);
}
