import { Readable } from 'node:stream';
import { keyValueLines, printJson, printLines } from './print.ts';
import { CliError } from './errors.ts';
import { formatCell, printRows, type JsonRow } from './print-rows.ts';

/** Columns of a table, unless somebody chose them. */
export const MOST_COLUMNS = 6;

/**
 * Prints what an operation answered, in short where it made or changed something.
 * @param path what the request named, for an answer without a body
 * @throws Refusal when something of a batch was not done
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

/** What tells who changed something that it is the right one, and what they go on with; `--json` has the rest. */
const IN_SHORT =
  'id uid title name email location severity status state criticality scopes expires_at token invite_url link'.split(
    ' ',
  );
/** Members that are all shown. */
const FEW = 8;

/** What older clients call members that stand beside them. */
const OLD_NAMES = new Set(['body', 'User']);

function summarizeRows(data: JsonRow): JsonRow {
  const entries = Object.entries(data).filter(([name]) => !OLD_NAMES.has(name));
  if (entries.length <= FEW) return Object.fromEntries(entries);
  return Object.fromEntries(IN_SHORT.flatMap((name) => (name in data ? [[name, data[name]]] : [])));
}

/** @returns what was made, where an answer is nothing but a list of it */
function nestedRows(data: JsonRow): readonly JsonRow[] | undefined {
  const [only, ...others] = Object.values(data);
  const isList = Array.isArray(only) && only.length > 0 && only.every((one) => typeof one === 'object');
  return isList && others.length === 0 ? (only as JsonRow[]) : undefined;
}

async function printRowTables(rows: readonly JsonRow[]): Promise<void> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MOST_COLUMNS);
  await printRows(Readable.from(rows), 'table', { all: names, table: names }, 'There is none.');
}

/** @throws Refusal when something of a batch was not done: what was is told already */
function throwIfAnyFailed(results: readonly JsonRow[]): void {
  const failed = results.filter(({ status }) => status === 'error').length;
  if (failed > 0) throw new CliError(`${failed} of ${results.length} could not be done; see errorDetail.`);
}
