import { ReportError } from '../report.ts';
import { utf8Of, wellFormed } from './encodings.ts';

/** What stands at one of the paths that were asked for. */
export interface JsonPiece {
  /** The path as it was asked for. */
  path: string;
  /** The names and indices that lead to it. */
  keys: readonly (string | number)[];
  value: unknown;
  /** Where it begins, in bytes from 0. */
  offset: number;
}

export interface JsonPiecesOptions {
  /** Whether a comma may stand before the end of an array or an object, as some tools leave one. */
  trailingCommas?: boolean;
  /** Reads the text of a piece in place of `JSON.parse`; what it throws ends the report. */
  parse?: (text: string) => unknown;
}

const MAX_DEPTH = 200;
const MAX_PIECE = 16 * 1024 * 1024;
/** Arrays, objects and commas of one piece: what is small in a file can be large in memory. */
const MAX_PARTS = 1_000_000;
const MAX_KEY = 64 * 1024;
const MAX_WORD = 1_024;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** What may come next, outside of pieces. */
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

/** What may come below a place, as the paths say. */
interface Step {
  names: Map<string, Step>;
  any?: Step;
  /** The path that ends here. */
  path?: string;
}

interface Frame {
  isArray: boolean;
  key: string | number;
  steps: readonly Step[];
}

/**
 * Reads JSON as it comes in, its members in any order, and gives whole what stands at the paths: names joined by dots,
 * `*` for any name or index, `''` for the whole document (`['runs.*.tool', 'runs.*.results.*']`). Everything else is
 * passed over, however large it is. What lies within a piece is no piece of its own.
 * @throws ReportError with the byte where it is no JSON, ends too early, or holds a piece of more than 16 MiB; every
 *   piece that ended before was yielded
 */
export async function* readJsonPieces(
  chunks: AsyncIterable<Uint8Array>,
  paths: readonly string[],
  options: JsonPiecesOptions = {},
): AsyncGenerator<JsonPiece, void> {
  const scanner = new JsonScanner(stepsOf(paths), options);
  for await (const chunk of utf8Of(chunks)) {
    let failure: unknown;
    try {
      scanner.write(chunk);
    } catch (error) {
      failure = error;
    }
    yield* scanner.takePieces();
    if (failure !== undefined) throw failure;
  }
  scanner.end();
  yield* scanner.takePieces();
}

function stepsOf(paths: readonly string[]): Step {
  const root: Step = { names: new Map() };
  for (const path of paths) {
    let step = root;
    for (const name of path === '' ? [] : path.split('.')) {
      const next: Step = (name === '*' ? step.any : step.names.get(name)) ?? { names: new Map() };
      if (name === '*') step.any = next;
      else step.names.set(name, next);
      step = next;
    }
    step.path = path;
  }
  return root;
}

class JsonScanner {
  readonly #options: JsonPiecesOptions;
  #pieces: JsonPiece[] = [];
  #frames: Frame[] = [];
  #expected: Expected = 'value';
  /** Of the value that comes next. */
  #steps: readonly Step[];
  /** Bytes before the present chunk. */
  #base = 0;
  #inString = false;
  #escaped = false;
  #inWord = false;
  /** What is kept of the key, word or piece that is being read, from the chunks before. */
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  /** Where it begins in the present chunk; -1 when nothing is kept. */
  #start = -1;
  #largest = 0;
  /** The path of the piece that is being read. */
  #path: string | undefined;
  #offset = 0;
  /** How deep in the piece; 0 in one that is no array and no object. */
  #depth = 0;
  #parts = 0;

  constructor(root: Step, options: JsonPiecesOptions) {
    this.#steps = [root];
    this.#options = options;
  }

  takePieces(): JsonPiece[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.#inString) {
        at = this.#endOfString(bytes, at);
        if (at === bytes.length) break;
        this.#inString = false;
        if (this.#depth === 0) this.#endString(bytes, at);
      } else if (this.#depth > 0) {
        at = this.#scanPiece(bytes, at);
      } else {
        this.#take(bytes, at);
      }
    }
    if (this.#start >= 0) {
      this.#keep(bytes, bytes.length);
      this.#start = 0;
    }
    this.#base += bytes.length;
  }

  /** @throws ReportError when the document is not complete */
  end(): void {
    if (this.#inWord) this.#endWord(new Uint8Array(0), 0);
    if (this.#expected === 'nothing') return;
    const nothing = this.#frames.length === 0 && !this.#inString && this.#path === undefined;
    this.#fail(nothing ? 'The report is empty.' : 'The report ends too early: its JSON is not complete.', 0);
  }

  /** @returns the index of the closing quote, or the length of the chunk */
  #endOfString(bytes: Uint8Array, from: number): number {
    let escaped = this.#escaped;
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) break;
    }
    this.#escaped = escaped;
    return at;
  }

  /** Reads within a piece until a string begins, the piece ends, or the chunk. @returns the index of the last byte read */
  #scanPiece(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      switch (bytes[at]) {
        case QUOTE:
          this.#inString = true;
          return at;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#depth += 1;
          this.#countPart(at);
          if (this.#depth + this.#frames.length > MAX_DEPTH) this.#failDepth(at);
          break;
        case COMMA:
          this.#countPart(at);
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#depth -= 1;
          if (this.#depth === 0) {
            this.#endPiece(bytes, at + 1);
            return at;
          }
          break;
      }
    }
    return bytes.length;
  }

  #take(bytes: Uint8Array, at: number): void {
    const byte = bytes[at] as number;
    const space = byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    if (this.#inWord) {
      if (!space && byte !== COMMA && byte !== CLOSE_BRACKET && byte !== CLOSE_BRACE) return;
      this.#endWord(bytes, at);
    }
    if (space) return;
    switch (this.#expected) {
      case 'value or end':
        if (byte === CLOSE_BRACKET) this.#pop(byte, at);
        else this.#beginValue(byte, at);
        break;
      case 'value':
        if (byte === CLOSE_BRACKET && this.#options.trailingCommas === true && this.#frames.length > 0)
          this.#pop(byte, at);
        else this.#beginValue(byte, at);
        break;
      case 'key or end':
      case 'key':
        if (
          byte === CLOSE_BRACE &&
          (this.#expected === 'key or end' || this.#options.trailingCommas === true)
        )
          this.#pop(byte, at);
        else if (byte === QUOTE) {
          // Where no path leads, names are passed over like values.
          if (this.#frames.at(-1)?.steps.length === 0) this.#inString = true;
          else this.#beginText(at, MAX_KEY);
        } else this.#fail('A name was expected here: this is no JSON.', at);
        break;
      case 'colon':
        if (byte !== COLON) this.#fail('A colon was expected here: this is no JSON.', at);
        this.#expected = 'value';
        break;
      case 'comma or end':
        if (byte === COMMA) this.#next();
        else this.#pop(byte, at);
        break;
      case 'nothing':
        this.#fail('The JSON has ended, and more follows.', at);
    }
  }

  #beginValue(byte: number, at: number): void {
    const path = this.#steps.find((step) => step.path !== undefined)?.path;
    const opens = byte === OPEN_BRACE || byte === OPEN_BRACKET;
    if (path !== undefined) {
      this.#path = path;
      this.#offset = this.#base + at;
      this.#parts = 0;
      this.#largest = MAX_PIECE;
      this.#start = at;
      if (opens) {
        this.#depth = 1;
        if (this.#frames.length + 1 > MAX_DEPTH) this.#failDepth(at);
        return;
      }
    } else if (opens) {
      if (this.#frames.length + 1 > MAX_DEPTH) this.#failDepth(at);
      const isArray = byte === OPEN_BRACKET;
      this.#frames.push({ isArray, key: isArray ? 0 : '', steps: this.#steps });
      this.#expected = isArray ? 'value or end' : 'key or end';
      if (isArray) this.#stepTo(0);
      return;
    }
    if (byte === QUOTE) {
      this.#inString = true;
      return;
    }
    // A number or one of three words.
    if (byte !== 0x2d && (byte < 0x30 || byte > 0x39) && byte !== 0x74 && byte !== 0x66 && byte !== 0x6e) {
      this.#fail('A value was expected here: this is no JSON.', at);
    }
    this.#inWord = true;
    this.#start = at;
    this.#largest = MAX_WORD;
  }

  #beginText(at: number, largest: number): void {
    this.#inString = true;
    this.#start = at;
    this.#largest = largest;
  }

  #endString(bytes: Uint8Array, at: number): void {
    if (this.#path !== undefined) this.#endPiece(bytes, at + 1);
    else if (this.#start >= 0) {
      this.#stepTo(this.#parsed(this.#takeKept(bytes, at + 1), JSON.parse, at) as string);
      this.#expected = 'colon';
    } else if (this.#expected === 'key' || this.#expected === 'key or end') this.#expected = 'colon';
    else this.#endValue();
  }

  #endWord(bytes: Uint8Array, at: number): void {
    this.#inWord = false;
    if (this.#path !== undefined) return this.#endPiece(bytes, at);
    this.#parsed(this.#takeKept(bytes, at), JSON.parse, at);
    this.#endValue();
  }

  #endPiece(bytes: Uint8Array, end: number): void {
    const text = this.#takeKept(bytes, end);
    const { parse = JSON.parse } = this.#options;
    const value = wellFormed(this.#parsed(text, parse, this.#offset - this.#base), text);
    const keys = this.#frames.map(({ key }) => key);
    this.#pieces.push({ path: this.#path as string, keys, value, offset: this.#offset });
    this.#path = undefined;
    this.#endValue();
  }

  #endValue(): void {
    this.#expected = this.#frames.length === 0 ? 'nothing' : 'comma or end';
  }

  /** After a comma. */
  #next(): void {
    const frame = this.#frames.at(-1) as Frame;
    this.#expected = frame.isArray ? 'value' : 'key';
    if (frame.isArray) this.#stepTo((frame.key as number) + 1);
  }

  #stepTo(key: string | number): void {
    const frame = this.#frames.at(-1) as Frame;
    frame.key = key;
    if (frame.steps.length === 0) return void (this.#steps = frame.steps);
    const name = String(key);
    const steps: Step[] = [];
    for (const { names, any } of frame.steps) {
      const named = names.get(name);
      if (named !== undefined) steps.push(named);
      if (any !== undefined) steps.push(any);
    }
    this.#steps = steps;
  }

  #pop(byte: number, at: number): void {
    const frame = this.#frames.pop();
    if (frame === undefined || byte !== (frame.isArray ? CLOSE_BRACKET : CLOSE_BRACE))
      this.#fail('A comma or an end was expected here: this is no JSON.', at);
    this.#endValue();
  }

  #keep(bytes: Uint8Array, end: number): void {
    this.#keptBytes += end - this.#start;
    if (this.#keptBytes > this.#largest) {
      const size = this.#largest === MAX_PIECE ? '16 MiB' : `${this.#largest} bytes`;
      this.#fail(`What begins here has more than ${size}.`, this.#start);
    }
    // A chunk may be written over by whoever gave it.
    this.#kept.push(Uint8Array.prototype.slice.call(bytes, this.#start, end));
  }

  #takeKept(bytes: Uint8Array, end: number): string {
    let text: string;
    if (this.#kept.length === 0) {
      if (end - this.#start > this.#largest) this.#keep(bytes, end);
      text = Buffer.from(bytes.buffer, bytes.byteOffset + this.#start, end - this.#start).toString();
    } else {
      this.#keep(bytes, end);
      text = Buffer.concat(this.#kept).toString();
    }
    this.#kept = [];
    this.#keptBytes = 0;
    this.#start = -1;
    return text;
  }

  #parsed(text: string, parse: (text: string) => unknown, at: number): unknown {
    try {
      return parse(text);
    } catch {
      this.#fail('What begins here is no JSON.', at);
    }
  }

  #countPart(at: number): void {
    this.#parts += 1;
    if (this.#parts > MAX_PARTS) this.#fail(`What begins here has more than ${MAX_PARTS} members.`, at);
  }

  #failDepth(at: number): never {
    this.#fail(`The JSON is nested more than ${MAX_DEPTH} deep.`, at);
  }

  #fail(message: string, at: number): never {
    throw new ReportError(message, { offset: this.#base + at });
  }
}
