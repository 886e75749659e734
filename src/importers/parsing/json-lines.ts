import { ReportError } from '../report.ts';
import { toUtf8, replaceLoneSurrogates } from './encodings.ts';

/** A line's value or error; lines count from 1. */
export type JsonLine = { value: unknown; line: number } | { error: string; line: number };

const NOT_JSON = 'invalid JSON';
const MAX_LINE = 16 * 1024 * 1024;
const MAX_DEPTH = 200;
/** Arrays, objects and commas per line: a small file can need much memory. */
const MAX_MEMBERS = 1_000_000;

/**
 * Parses JSON Lines (jsonlines.org), skipping empty lines. An invalid line, or one of more than 16 MiB, becomes an
 * error and does not end the report.
 * @throws ReportError at the end if the last line is truncated or no line is JSON, so that nothing missing is marked as
 *   gone
 * @returns the lines of one chunk at a time, parsed lazily: awaiting each line would cost more than parsing it
 */
export async function* streamJsonLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Iterable<JsonLine>, void> {
  const cutter = new LineSplitter();
  for await (const chunk of toUtf8(chunks)) yield cutter.linesIn(chunk);
  yield cutter.end();
}

class LineSplitter {
  #line = 1;
  #pending: Uint8Array[] = [];
  #size = 0;
  #isJson = false;
  #firstError: number | undefined;

  *linesIn(chunk: Uint8Array): Generator<JsonLine, void> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      const parsed = this.#take(bytes.subarray(start, end));
      if (parsed !== undefined) yield parsed;
      start = end + 1;
      this.#line += 1;
    }
    if (start === bytes.length) return;
    this.#size += bytes.length - start;
    if (this.#size > MAX_LINE) this.#pending = [];
    // The producer may reuse the chunk.
    else this.#pending.push(Uint8Array.prototype.slice.call(bytes, start));
  }

  *end(): Generator<JsonLine, void> {
    const last = this.#take(new Uint8Array(0));
    const isTruncated = last !== undefined && 'error' in last && last.error === NOT_JSON;
    if (last !== undefined && !isTruncated) yield last;
    if (this.#firstError !== undefined && !this.#isJson)
      throw new ReportError('No line of the report is valid JSON.', { line: this.#firstError });
    if (isTruncated)
      throw new ReportError('The report is truncated: its last line is not valid JSON.', {
        line: this.#line,
      });
  }

  #take(end: Uint8Array): JsonLine | undefined {
    const length = this.#size + end.length;
    const bytes = this.#pending.length === 0 ? end : Buffer.concat([...this.#pending, end]);
    this.#pending = [];
    this.#size = 0;
    const line = this.#line;
    const parsed = length > MAX_LINE ? { error: 'line of more than 16 MiB', line } : parseLine(bytes, line);
    if (parsed !== undefined && 'value' in parsed) this.#isJson = true;
    else if (parsed !== undefined) this.#firstError ??= line;
    return parsed;
  }
}

function parseLine(bytes: Uint8Array, line: number): JsonLine | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().trim();
  if (text === '') return undefined;
  const error = exceededLimit(text);
  if (error !== undefined) return { error, line };
  try {
    return { value: replaceLoneSurrogates(JSON.parse(text), text), line };
  } catch {
    return { error: NOT_JSON, line };
  }
}

/** Short lines cannot exceed a limit. */
function exceededLimit(text: string): string | undefined {
  if (text.length <= MAX_DEPTH) return undefined;
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfString(text, at + 1);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        parts += 1;
        if (depth > MAX_DEPTH) return `line nested more than ${MAX_DEPTH} levels deep`;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      case 0x2c:
        parts += 1;
        if (parts > MAX_MEMBERS) return `line of more than ${MAX_MEMBERS} members`;
        break;
    }
  }
  return undefined;
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
