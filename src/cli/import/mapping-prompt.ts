import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { CSV_FIELDS, defaultMapping } from '../../importers/formats/csv/columns.ts';
import { printableArgument, table } from '../print.ts';
import type { Mapping } from './mapping-options.ts';
import { errorCodeOf, CliError } from '../errors.ts';

/** What of each column is shown: so many rows, and so much of a cell. */
const SHOWN_ROWS = 3;
const SHOWN_CELL = 24;

export interface Terminal {
  input: Readable;
  output: Pick<NodeJS.WritableStream, 'write'>;
}

/**
 * Asks on a terminal which column of a CSV report is which, says by which options the same is told without being asked, and
 * writes them into a file if that is wanted.
 * @param rows of the report: the header first
 * @param signal ends the questions
 * @throws Refusal when the answers end before the last question
 */
export async function promptMapping(
  { input, output }: Terminal,
  [header = [], ...rows]: readonly (readonly string[])[],
  signal?: AbortSignal,
): Promise<Mapping> {
  const tell = (...lines: string[]) => output.write(`${lines.join('\n')}\n`);
  const lines = createInterface({ input, terminal: false, ...(signal === undefined ? {} : { signal }) });
  const answers = lines[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    output.write(question);
    const { value, done } = await answers.next();
    if (done !== true) return value.trim();
    tell('');
    throw new CliError('The questions were not answered to their end, and nothing was imported.');
  };
  try {
    tell(...columnLines(header, rows));
    const mapping: Record<string, string> = {};
    const guesses = defaultMapping(header);
    for (const member of Object.keys(CSV_FIELDS)) {
      const left = header.filter((name) => name !== '' && !Object.values(mapping).includes(name));
      if (left.length === 0) break;
      const isRequired = member === 'title' || (member === 'severity' && !hasSeveritySource(guesses));
      const guess = left.find((name) => name === guesses[member]);
      const column = await promptColumn(member, { header, guess, isRequired, ask, print: tell });
      if (column !== undefined) mapping[member] = column;
    }
    const options = Object.entries(mapping).map(([name, column]) => printableArgument(`${name}=${column}`));
    tell('', `The same without questions: ${options.map((option) => `--map ${option}`).join(' ')}`);
    await offerMappingFile(mapping, ask, tell);
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
    'The names of its columns do not tell which is which. These are the columns, and what is in the first rows:',
    '',
    ...table(
      columns,
      {
        '': ({ number }) => number,
        COLUMN: ({ name }) => name,
        'FIRST ROWS': ({ values }) => values,
      },
      '',
    ),
    '',
    'Type the number or the name of a column. Enter takes what stands in brackets; - is none.',
  ];
}

interface ColumnQuestion {
  header: readonly string[];
  guess: string | undefined;
  isRequired: boolean;
  ask(question: string): Promise<string>;
  print(line: string): void;
}

/** @returns the column that a member is; `undefined` when it is none */
async function promptColumn(
  member: string,
  { header, guess, isRequired, ask, print: tell }: ColumnQuestion,
): Promise<string | undefined> {
  for (;;) {
    const answer = await ask(
      `${member.replaceAll('_', ' ')}${isRequired ? ' (needed)' : ''} [${guess ?? '-'}]: `,
    );
    const column = answer === '' ? guess : findColumn(header, answer);
    if (column !== undefined) return column;
    if (answer !== '' && answer !== '-') tell(`There is no column ${answer}.`);
    else if (isRequired) tell(`Without ${member} there is nothing to import.`);
    else return undefined;
  }
}

/** Writes a mapping for `--mapping`, if a name is given for its file. */
async function offerMappingFile(
  mapping: Mapping,
  ask: (question: string) => Promise<string>,
  tell: (line: string) => void,
): Promise<void> {
  for (;;) {
    const file = await ask('Keep it for --mapping, in which file? [none]: ');
    if (file === '' || file === '-') return;
    try {
      writeFileSync(file, `${JSON.stringify(mapping, undefined, 2)}\n`, { flag: 'wx' });
      return tell(`Written to ${file}: --mapping ${printableArgument(file)}`);
    } catch (error) {
      const code = errorCodeOf(error);
      tell(code === 'EEXIST' ? `There is a file ${file} already.` : `${file} cannot be written (${code}).`);
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
