import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { printableArgument, table } from './output.ts';
import type { Mapping } from './import-mapping.ts';
import { Refusal } from './refusal.ts';

/** A member of ours that a column of a CSV report can be. */
export interface MappedMember {
  name: string;
  required?: boolean;
  /** Other words for it, in small letters, that a column may be called. */
  alsoCalled?: readonly string[];
}

/** What of each column is shown: so many rows, and so much of a cell. */
const SHOWN_ROWS = 3;
const SHOWN_CELL = 30;

/**
 * Asks on a terminal which column of a CSV report is which member, and says by which options the same is told without being
 * asked.
 * @param rows of the report: the header first
 * @throws Refusal when the answers end before one that is needed
 */
export async function askMapping(
  terminal: { input: Readable; output: Pick<NodeJS.WritableStream, 'write'> },
  [header = [], ...rows]: readonly (readonly string[])[],
  members: readonly MappedMember[],
): Promise<Mapping> {
  const { input, output } = terminal;
  const tell = (...lines: string[]) => output.write(`${lines.join('\n')}\n`);
  const columns = header.map((name, index) => ({
    number: index + 1,
    name,
    values: rows.slice(0, SHOWN_ROWS).map((row) => cut(row[index] ?? '')),
  }));
  tell(
    'Which column is which? First its columns, with what is in the first rows:',
    '',
    ...table(
      columns,
      {
        '': ({ number }) => number,
        COLUMN: ({ name }) => name,
        'FIRST ROWS': ({ values }) => values.join(' | '),
      },
      '',
    ),
    '',
    'Type the number or the name of a column; Enter takes what stands in brackets, - is none.',
  );
  const answers = createInterface({ input, terminal: false })[Symbol.asyncIterator]();
  const mapping: Record<string, string> = {};
  try {
    for (const member of members) {
      const guess = guessOf(header, member);
      for (;;) {
        output.write(
          `${member.name}${member.required === true ? ', which is needed' : ''} [${guess ?? '-'}]: `,
        );
        const { value, done } = await answers.next();
        if (done === true) throw new Refusal('The questions were not answered to their end.');
        const answer = value.trim();
        const column = answer === '' ? guess : columnOf(header, answer);
        if (column === undefined && answer !== '' && answer !== '-') {
          tell(`There is no column ${answer}.`);
          continue;
        }
        if (column === undefined && member.required === true) continue;
        if (column !== undefined) mapping[member.name] = column;
        break;
      }
    }
  } finally {
    await answers.return?.();
  }
  const options = Object.entries(mapping).map(([name, column]) => printableArgument(`${name}=${column}`));
  tell('', `The same without questions: ${options.map((option) => `--map ${option}`).join(' ')}`, '');
  return mapping;
}

const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

function guessOf(header: readonly string[], { name, alsoCalled = [] }: MappedMember): string | undefined {
  const words = [name, ...alsoCalled].map(plain);
  // A better word wins over an earlier column.
  for (const word of words) {
    const column = header.find((one) => plain(one) === word);
    if (column !== undefined) return column;
  }
  return undefined;
}

function columnOf(header: readonly string[], answer: string): string | undefined {
  return (
    header.find((name) => name === answer) ??
    (/^\d{1,5}$/.test(answer) ? header[Number(answer) - 1] : undefined) ??
    header.find((name) => name.toLowerCase() === answer.toLowerCase())
  );
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return [...line].length <= SHOWN_CELL ? line : `${[...line].slice(0, SHOWN_CELL - 1).join('')}…`;
}
