import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { CSV_FIELDS, defaultMapping } from '../../importers/formats/csv/columns.ts';
import { printableArgument, table } from '../print.ts';
import type { Mapping } from './mapping-options.ts';
import { errorCodeOf, CliError } from '../errors.ts';

/** Rows shown of each column, and characters shown of each cell. */
const SHOWN_ROWS = 3;
const SHOWN_CELL = 24;

export interface Terminal {
  input: Readable;
  output: Pick<NodeJS.WritableStream, 'write'>;
}

/**
 * Prompts for the columns of a CSV report, prints the equivalent options, and offers to save the mapping.
 * @param rows header and first rows of the report
 * @throws CliError if the input ends early
 */
export async function promptMapping(
  { input, output }: Terminal,
  [header = [], ...rows]: readonly (readonly string[])[],
  signal?: AbortSignal,
): Promise<Mapping> {
  const print = (...lines: string[]) => output.write(`${lines.join('\n')}\n`);
  const lines = createInterface({ input, terminal: false, ...(signal === undefined ? {} : { signal }) });
  const inputLines = lines[Symbol.asyncIterator]();
  const prompt = async (question: string): Promise<string> => {
    output.write(question);
    const { value, done } = await inputLines.next();
    if (done !== true) return value.trim();
    print('');
    throw new CliError('The column mapping is incomplete. Nothing was imported.');
  };
  try {
    print(...columnLines(header, rows));
    const mapping: Record<string, string> = {};
    const guesses = defaultMapping(header);
    for (const field of Object.keys(CSV_FIELDS)) {
      const unused = header.filter((name) => name !== '' && !Object.values(mapping).includes(name));
      if (unused.length === 0) break;
      const isRequired = field === 'title' || (field === 'severity' && !hasSeveritySource(guesses));
      const guess = unused.find((name) => name === guesses[field]);
      const column = await promptColumn(field, { header, guess, isRequired, prompt, print });
      if (column !== undefined) mapping[field] = column;
    }
    const options = Object.entries(mapping).map(([name, column]) => printableArgument(`${name}=${column}`));
    print('', `To skip these questions: ${options.map((option) => `--map ${option}`).join(' ')}`);
    await offerMappingFile(mapping, prompt, print);
    return mapping;
  } finally {
    lines.close();
  }
}

const hasSeveritySource = (guesses: Mapping) =>
  guesses['cvss_score'] !== undefined || guesses['cvss_vector'] !== undefined;

function columnLines(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const columns = header.map((name, index) => ({
    number: index + 1,
    name: truncateCell(name),
    values: rows
      .slice(0, SHOWN_ROWS)
      .map((row) => truncateCell(row[index] ?? ''))
      .join(' | '),
  }));
  return [
    'The columns are not recognised. Columns and their first rows:',
    '',
    ...table(
      columns,
      { '': ({ number }) => number, COLUMN: ({ name }) => name, 'FIRST ROWS': ({ values }) => values },
      '',
    ),
    '',
    'Enter the number or name of a column. Press Enter to accept the default in brackets; - for none.',
  ];
}

interface ColumnPrompt {
  header: readonly string[];
  guess: string | undefined;
  isRequired: boolean;
  prompt(question: string): Promise<string>;
  print(line: string): void;
}

/** Returns the column of a field; `undefined` for none. */
async function promptColumn(
  field: string,
  { header, guess, isRequired, prompt, print }: ColumnPrompt,
): Promise<string | undefined> {
  for (;;) {
    const answer = await prompt(
      `${field.replaceAll('_', ' ')}${isRequired ? ' (required)' : ''} [${guess ?? '-'}]: `,
    );
    const column = answer === '' ? guess : findColumn(header, answer);
    if (column !== undefined) return column;
    if (answer !== '' && answer !== '-') print(`Column "${answer}" not found.`);
    else if (isRequired) print(`A column for ${field} is required.`);
    else return undefined;
  }
}

/** Offers to save the mapping to a file for `--mapping`. */
async function offerMappingFile(
  mapping: Mapping,
  prompt: (question: string) => Promise<string>,
  print: (line: string) => void,
): Promise<void> {
  for (;;) {
    const file = await prompt('Save the mapping to a file for --mapping [none]: ');
    if (file === '' || file === '-') return;
    try {
      writeFileSync(file, `${JSON.stringify(mapping, undefined, 2)}\n`, { flag: 'wx' });
      return print(`Saved. To use it: --mapping ${printableArgument(file)}`);
    } catch (error) {
      const code = errorCodeOf(error);
      print(code === 'EEXIST' ? `${file} already exists.` : `Cannot write ${file} (${code}).`);
    }
  }
}

function findColumn(header: readonly string[], answer: string): string | undefined {
  return (
    header.find((name) => name === answer) ??
    (/^\d{1,5}$/.test(answer) ? header[Number(answer) - 1] : undefined) ??
    header.find((name) => name.toLowerCase() === answer.toLowerCase())
  );
}

function truncateCell(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return [...line].length <= SHOWN_CELL ? line : `${[...line].slice(0, SHOWN_CELL - 1).join('')}…`;
}
