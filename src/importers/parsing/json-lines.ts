import { ReportError, type ReportRecord, type SourceLocation } from '../report.ts';
import { toUtf8, replaceLoneSurrogates, peekStart } from './encodings.ts';
import { streamJsonMatches } from './json-stream.ts';
import { isJsonObject } from './json-values.ts';

/** A record, or the reason why it cannot be read. */
export type JsonRecord = { location: SourceLocation } & ({ value: unknown } | { error: string });

const NOT_JSON = 'invalid JSON';
const MAX_LINE = 16 * 1024 * 1024;
const MAX_DEPTH = 200;
/** Arrays, objects and commas per line: a small file can need much memory. */
const MAX_MEMBERS = 1_000_000;
/** Matches the beginning of an array or object, but not a line of a log: `[INF] …`. */
const BEGINS_JSON = /^\s*(?:\{|\[\s*(?:["{[\]]|$))/;

/**
 * Reads the records of a tool that writes JSON Lines (jsonlines.org). Also reads them from an array, and spread over
 * several lines, as `jq` writes them. An invalid line, or one of more than 16 MiB, becomes an error and does not end
 * the report.
 * @throws ReportError at the end if the report is truncated or contains no JSON, so that nothing missing is marked as
 *   gone
 * @returns the records of one chunk at a time, parsed lazily: awaiting each would cost more than parsing it
 */
export async function* streamJsonRecords(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Iterable<JsonRecord>, void> {
  const { start, all } = await peekStart(chunks);
  if (/^\[[{\]]/.test(start)) {
    for await (const { value, offset } of streamJsonMatches(all, ['*'], { trailingCommas: true }))
      yield [{ value, location: { offset } }];
    return;
  }
  const splitter = new LineSplitter();
  for await (const chunk of toUtf8(all)) yield splitter.linesIn(chunk);
  yield splitter.end();
}

/**
 * Reads a report whose JSON records become records of the import.
 * @param toRecords called with each JSON record, in order
 * @throws ReportError as `streamJsonRecords`
 */
export async function* readJsonRecords(
  chunks: AsyncIterable<Uint8Array>,
  toRecords: (value: unknown, location: SourceLocation) => ReportRecord | readonly ReportRecord[],
): AsyncGenerator<ReportRecord, void> {
  for await (const records of streamJsonRecords(chunks))
    for (const record of records) {
      const { location } = record;
      const result: ReportRecord | readonly ReportRecord[] =
        'error' in record
          ? { kind: 'unreadable', reason: record.error, location }
          : toRecords(record.value, location);
      if ('kind' in result) yield result;
      else for (const each of result) yield each;
    }
}

class LineSplitter {
  #line = 1;
  #pending: Uint8Array[] = [];
  #size = 0;
  readonly #parser = new LineParser();

  *linesIn(chunk: Uint8Array): Generator<JsonRecord, void> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      yield* this.#take(bytes.subarray(start, end));
      start = end + 1;
      this.#line += 1;
    }
    if (start === bytes.length) return;
    this.#size += bytes.length - start;
    if (this.#size > MAX_LINE) this.#pending = [];
    // The producer may reuse the chunk.
    else this.#pending.push(Uint8Array.prototype.slice.call(bytes, start));
  }

  *end(): Generator<JsonRecord, void> {
    yield* this.#take(new Uint8Array(0));
    this.#parser.end();
  }

  #take(end: Uint8Array): readonly JsonRecord[] {
    const length = this.#size + end.length;
    const bytes = this.#pending.length === 0 ? end : Buffer.concat([...this.#pending, end]);
    this.#pending = [];
    this.#size = 0;
    const text =
      length > MAX_LINE ? undefined : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.#parser.take(text?.toString(), this.#line);
  }
}

/** Parses lines, and joins those of an array or object that is spread over several. */
class LineParser {
  /** The lines of a value that is not complete yet. */
  #open: { text: string; line: number }[] = [];
  #openSize = 0;
  #depth = 0;
  #isJson = false;
  #firstError: number | undefined;

  /** @param text of the line; `undefined` if it is too long */
  take(text: string | undefined, line: number): readonly JsonRecord[] {
    if (text === undefined)
      return [
        ...this.#parseSeparately(),
        this.#counted({ error: 'line of more than 16 MiB', location: { line } }),
      ];
    // A new record begins before the last one ended: that one is broken.
    const broken = /^[{[]/.test(text) ? this.#parseSeparately() : [];
    const records = this.#open.length > 0 ? this.#continue(text, line) : this.#begin(text, line);
    return broken.length === 0 ? records : [...broken, ...records];
  }

  /** @throws ReportError */
  end(): void {
    const [first] = this.#open;
    if ((first ?? this.#firstError) !== undefined && !this.#isJson)
      throw new ReportError('No line of the report is valid JSON.', {
        line: this.#firstError ?? (first?.line as number),
      });
    if (first !== undefined)
      throw new ReportError('The report is truncated: its last line is not valid JSON.', {
        line: first.line,
      });
  }

  #begin(text: string, line: number): readonly JsonRecord[] {
    const location = { line };
    const record = parseText(text, location);
    if (record === undefined) return [];
    if ('error' in record && record.error === NOT_JSON && BEGINS_JSON.test(text)) {
      const { depth } = measure(text);
      if (depth > 0) {
        this.#depth = depth;
        this.#openSize = text.length;
        this.#open.push({ text, line });
        return [];
      }
    }
    return this.#recordsIn(record);
  }

  #continue(text: string, line: number): readonly JsonRecord[] {
    const { depth } = measure(text);
    this.#depth += depth;
    this.#openSize += text.length;
    this.#open.push({ text, line });
    if (this.#openSize > MAX_LINE) return this.#parseSeparately();
    if (this.#depth > 0) return [];
    const joined = this.#open.map((part) => part.text).join('\n');
    const record = parseText(joined, { line: this.#open[0]?.line as number });
    if (record === undefined || 'error' in record) return this.#parseSeparately();
    this.#open = [];
    return this.#recordsIn(record);
  }

  /** Takes the elements of an array as records: some tools write their log first, then one array. */
  #recordsIn(record: JsonRecord): readonly JsonRecord[] {
    this.#counted(record);
    if ('error' in record || !Array.isArray(record.value) || !record.value.every(isJsonObject))
      return [record];
    return record.value.map((value) => ({ value, location: record.location }));
  }

  #parseSeparately(): JsonRecord[] {
    const lines = this.#open;
    this.#open = [];
    return lines.flatMap(({ text, line }) => {
      const record = parseText(text, { line });
      return record === undefined ? [] : this.#counted(record);
    });
  }

  #counted(record: JsonRecord): JsonRecord {
    if ('value' in record) this.#isJson = true;
    else this.#firstError ??= record.location.line;
    return record;
  }
}

function parseText(text: string, location: SourceLocation): JsonRecord | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const error = mayExceedLimit(trimmed) ? measure(trimmed).error : undefined;
  if (error !== undefined) return { error, location };
  try {
    return { value: replaceLoneSurrogates(JSON.parse(trimmed), trimmed), location };
  } catch {
    return { error: NOT_JSON, location };
  }
}

/** Counts opening brackets, also those in strings: much cheaper than `measure`, and enough for nearly all lines. */
function mayExceedLimit(text: string): boolean {
  if (text.length > MAX_MEMBERS) return true;
  let opened = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      opened += 1;
      if (opened > MAX_DEPTH) return true;
    }
  }
  return false;
}

/** @returns how many brackets are open at the end, or the limit that the text exceeds */
function measure(text: string): { depth: number; error?: string } {
  let depth = 0;
  let parts = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case 0x22:
        index = endOfString(text, index + 1);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        parts += 1;
        if (depth > MAX_DEPTH) return { depth, error: `line nested more than ${MAX_DEPTH} levels deep` };
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      case 0x2c:
        parts += 1;
        if (parts > MAX_MEMBERS) return { depth, error: `line of more than ${MAX_MEMBERS} members` };
        break;
    }
  }
  return { depth };
}

/** @returns the index of the closing quote, or the length of the text */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end > 0) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
