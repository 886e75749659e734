import { StreamingTextDecoder } from './encodings.ts';
import { ReportError } from '../report.ts';

/**
 * A row as fields by column name, or an error. `line` is the last line of the row, from 1. All rows have the same
 * `columns`.
 */
export type CsvRow =
  | { row: Readonly<Record<string, string>>; columns: readonly string[]; line: number }
  | { error: string; line: number };

const MAX_ROW = 4 * 1024 * 1024;
export const MAX_COLUMNS = 1_000;
/** Characters and rows in which the header is searched. */
const MAX_HEADER = 64 * 1024;
const MAX_PREAMBLE = 50;
/** Characters that are parsed between two checks of the number of rows. */
const HEAD_STEP = 4_096;
const DELIMITERS = [',', ';', '\t'];

/**
 * Parses CSV (RFC 4180) as a stream. Skips empty rows, and ignores empty fields beyond the last column. A quote inside
 * an unquoted field is text.
 * @param isHeader whether a row names the columns; rows before it are skipped. Without such a row in the first 50 rows
 *   and 64 Ki characters, the first row names them
 * @throws ReportError with the line if a row exceeds 4 Mi characters or the report ends inside quotes
 */
export async function* streamCsvRows(
  chunks: AsyncIterable<Uint8Array>,
  isHeader: (fields: readonly string[]) => boolean = () => true,
): AsyncGenerator<CsvRow, void> {
  const decoder = new StreamingTextDecoder();
  let head = '';
  let parser: CsvParser | undefined;
  let names: string[] | undefined;
  let headerLine = 0;
  const rows = function* (): Generator<CsvRow> {
    for (const { fields, line } of parser?.takeRows() ?? []) {
      if (names === undefined) {
        if (line >= headerLine) names = uniqueColumnNames(fields, line);
      } else if (
        fields.length > names.length &&
        fields.slice(names.length).some((field) => field.trim() !== '')
      )
        yield { error: 'row with more columns than the header', line };
      else yield { row: rowOf(names, fields), columns: names, line };
    }
  };
  const read = function* (text: string, isEnd: boolean): Generator<CsvRow> {
    if (parser === undefined) {
      head += text;
      if (!isEnd && head.length < MAX_HEADER) return;
      const layout = detectLayout(head, isHeader);
      headerLine = layout.line;
      text = head.slice(layout.start);
      parser = new CsvParser(layout.delimiter, head.slice(0, layout.start).split('\n').length);
    }
    try {
      parser.write(text);
      if (isEnd) parser.end();
    } catch (error) {
      yield* rows();
      throw error;
    }
    yield* rows();
  };
  for await (const chunk of chunks) yield* read(decoder.decode(chunk), false);
  yield* read(decoder.end(), true);
  if (names === undefined) throw new ReportError('The report is empty.');
}

/** Loops over the fields instead of the columns, because a report can have many short rows below a long header. */
function rowOf(names: readonly string[], fields: readonly string[]): Record<string, string> {
  // Without a prototype, a column may have any name, and an absent one has no value.
  const row = Object.create(null) as Record<string, string>;
  for (const [index, field] of fields.entries()) {
    const name = names[index];
    if (name === undefined) break;
    row[name] = field;
  }
  return row;
}

export interface CsvLayout {
  delimiter: string;
  /** Where the rows begin, in characters: behind empty lines and `sep=;`. */
  start: number;
  /** The line that names the columns, from 1. */
  line: number;
  /** The fields of that line. */
  header: readonly string[];
}

/**
 * Finds the row that names the columns, and the delimiter: that of a first line such as `sep=;`, which Excel reads,
 * else the one with which a row is a header, else the one that occurs most in the first row.
 */
export function detectLayout(text: string, isHeader: (fields: readonly string[]) => boolean): CsvLayout {
  const begin = text.search(/\S/);
  const blankEnd = text.lastIndexOf('\n', begin < 0 ? text.length : begin) + 1;
  const separator = /^"?sep=([,;|\t])"?\r?(?:\n|$)/i.exec(text.slice(blankEnd, blankEnd + 20));
  const start = blankEnd + (separator?.[0].length ?? 0);
  const head = text.slice(start, start + MAX_HEADER);
  const firstLine = text.slice(0, start).split('\n').length;
  const frequent = separator?.[1] ?? frequentDelimiter(head);
  const candidates = separator === null ? [...new Set([frequent, ...DELIMITERS])] : [frequent];
  for (const delimiter of candidates) {
    const headerRow = headRows(head, delimiter, firstLine).find(
      ({ fields }) => fields.length > MAX_COLUMNS || isHeader(fields),
    );
    if (headerRow !== undefined) return { delimiter, start, line: headerRow.line, header: headerRow.fields };
  }
  const [row] = headRows(head, frequent, firstLine);
  return { delimiter: frequent, start, line: row?.line ?? firstLine, header: row?.fields ?? [] };
}

/** @returns the rows at the beginning, up to the first that is not valid */
function headRows(text: string, delimiter: string, line: number): Row[] {
  const parser = new CsvParser(delimiter, line);
  const rows: Row[] = [];
  try {
    for (let offset = 0; offset < text.length && rows.length < MAX_PREAMBLE; offset += HEAD_STEP) {
      parser.write(text.slice(offset, offset + HEAD_STEP));
      rows.push(...parser.takeRows());
    }
    parser.end();
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
  }
  return [...rows, ...parser.takeRows()].slice(0, MAX_PREAMBLE);
}

/** @returns the delimiter that occurs most in the first row, outside quotes */
function frequentDelimiter(text: string): string {
  const counts = new Map(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (const character of text) {
    if (character === '"') quoted = !quoted;
    else if (!quoted && character === '\n') break;
    else if (!quoted && counts.has(character)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  return [...counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

/** Numbers repeated names with numbers that no other name has: `name`, `name 2`. */
function uniqueColumnNames(fields: readonly string[], line: number): string[] {
  if (fields.length > MAX_COLUMNS)
    throw new ReportError(`The report has more than ${MAX_COLUMNS} columns.`, { line });
  const names = fields.map((field) => field.trim());
  const allNames = new Set(names);
  const seen = new Map<string, number>();
  return names.map((name) => {
    let count = (seen.get(name) ?? 0) + 1;
    while (count > 1 && allNames.has(`${name} ${count}`)) count += 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} ${count}`;
  });
}

interface Row {
  fields: string[];
  line: number;
}

class CsvParser {
  readonly #delimiter: string;
  /** Ends an unquoted field. */
  readonly #ends: RegExp;
  #rows: Row[] = [];
  #fields: string[] = [];
  #field = '';
  #size = 0;
  #line: number;
  /** `closed`: after a quote that either ends the field or is the first of an escaped pair. */
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';

  /** @param line of the first row */
  constructor(delimiter: string, line: number) {
    this.#delimiter = delimiter;
    this.#line = line;
    this.#ends = new RegExp(`[${delimiter}\n]`, 'g');
  }

  takeRows(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  write(text: string): void {
    let index = 0;
    while (index < text.length) {
      if (this.#state === 'quoted') {
        const quote = text.indexOf('"', index);
        const end = quote < 0 ? text.length : quote;
        this.#add(text.slice(index, end));
        index = end + 1;
        if (quote >= 0) this.#state = 'closed';
        continue;
      }
      const character = text[index];
      if (character === '"' && this.#state !== 'plain') {
        // An escaped quote.
        if (this.#state === 'closed') this.#add('"');
        this.#state = 'quoted';
        index += 1;
        continue;
      }
      this.#ends.lastIndex = index;
      const end = this.#ends.exec(text)?.index ?? text.length;
      this.#add(text.slice(index, end));
      this.#state = 'plain';
      index = end + 1;
      if (end === text.length) break;
      if (text[end] === this.#delimiter) this.#endField();
      else this.#endRow();
    }
  }

  /** @throws ReportError if the report ends inside quotes */
  end(): void {
    if (this.#state === 'quoted') {
      throw new ReportError('The report is truncated: a quote is not closed.', { line: this.#line });
    }
    if (this.#fields.length > 0 || this.#field !== '') this.#endRow();
  }

  #add(text: string): void {
    this.#size += text.length;
    if (this.#size > MAX_ROW)
      throw new ReportError('A row has more than 4 Mi characters.', { line: this.#line });
    if (this.#state === 'quoted') for (const character of text) if (character === '\n') this.#line += 1;
    this.#field += text;
  }

  #endField(): void {
    this.#fields.push(this.#field);
    this.#field = '';
    this.#state = 'start';
  }

  #endRow(): void {
    if (this.#field.endsWith('\r')) this.#field = this.#field.slice(0, -1);
    this.#endField();
    if (this.#fields.length > 1 || this.#fields[0] !== '') {
      this.#rows.push({ fields: this.#fields, line: this.#line });
    }
    this.#fields = [];
    this.#size = 0;
    this.#line += 1;
  }
}
