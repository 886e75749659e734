import { replaceLoneSurrogates } from './encodings.ts';
import { TextCapture } from './text-capture.ts';
import { ReportError } from '../report.ts';

const MAX_DEPTH = 200;
const MAX_MATCH = 16 * 1024 * 1024;
/** Arrays, objects and commas per match: a small file can need much memory. */
const MAX_MEMBERS = 1_000_000;
const MAX_KEY = 64 * 1024;
const MAX_LITERAL = 1_024;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** What may follow, outside matches. */
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

interface Frame {
  isArray: boolean;
  key: string | number;
  steps: readonly PathNode[];
}

/** Finds matches in JSON that arrives in chunks. */
export class JsonScanner {
  readonly #options: JsonStreamOptions;
  #pieces: JsonMatch[] = [];
  #frames: Frame[] = [];
  #expected: Expected = 'value';
  /** Path nodes of the next value. */
  #steps: readonly PathNode[];
  /** Bytes before the current chunk. */
  #base = 0;
  #inString = false;
  #escaped = false;
  #inWord = false;
  /** The current key, literal or match. */
  readonly #kept = new TextCapture();
  /** Path of the current match. */
  #path: string | undefined;
  #offset = 0;
  /** Depth within the match; 0 if it is neither an array nor an object. */
  #depth = 0;
  #parts = 0;

  constructor(root: PathNode, options: JsonStreamOptions) {
    this.#steps = [root];
    this.#options = options;
  }

  takeMatches(): JsonMatch[] {
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
    if (!this.#kept.carryOver(bytes)) this.#failLarge();
    this.#base += bytes.length;
  }

  /** @throws ReportError if the document is incomplete */
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

  /** Scans a match up to the next string, its end or the end of the chunk. @returns the index of the last byte read */
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
          // No path leads here: skip names like values.
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
      this.#kept.begin(at, MAX_MATCH);
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
    // A number, `true`, `false` or `null`.
    if (byte !== 0x2d && (byte < 0x30 || byte > 0x39) && byte !== 0x74 && byte !== 0x66 && byte !== 0x6e) {
      this.#fail('A value was expected here: this is no JSON.', at);
    }
    this.#inWord = true;
    this.#kept.begin(at, MAX_LITERAL);
  }

  #beginText(at: number, largest: number): void {
    this.#inString = true;
    this.#kept.begin(at, largest);
  }

  #endString(bytes: Uint8Array, at: number): void {
    if (this.#path !== undefined) this.#endPiece(bytes, at + 1);
    else if (this.#kept.isActive) {
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
    const value = replaceLoneSurrogates(this.#parsed(text, parse, this.#offset - this.#base), text);
    const keys = this.#frames.map(({ key }) => key);
    this.#pieces.push({ path: this.#path as string, keys, value, offset: this.#offset });
    this.#path = undefined;
    this.#endValue();
  }

  #endValue(): void {
    this.#expected = this.#frames.length === 0 ? 'nothing' : 'comma or end';
  }

  /** Handles a comma. */
  #next(): void {
    const frame = this.#frames.at(-1) as Frame;
    this.#expected = frame.isArray ? 'value' : 'key';
    if (frame.isArray) this.#stepTo((frame.key as number) + 1);
  }

  #stepTo(key: string | number): void {
    const frame = this.#frames.at(-1) as Frame;
    frame.key = key;
    if (frame.steps.length === 0) return void (this.#steps = frame.steps);
    this.#steps = matchPaths(frame.steps, String(key));
  }

  #pop(byte: number, at: number): void {
    const frame = this.#frames.pop();
    if (frame === undefined || byte !== (frame.isArray ? CLOSE_BRACKET : CLOSE_BRACE))
      this.#fail('A comma or an end was expected here: this is no JSON.', at);
    this.#endValue();
  }

  #takeKept(bytes: Uint8Array, end: number): string {
    return this.#kept.take(bytes, end) ?? this.#failLarge();
  }

  #failLarge(): never {
    const { maxBytes, start } = this.#kept;
    const size = maxBytes === MAX_MATCH ? '16 MiB' : `${maxBytes} bytes`;
    this.#fail(`What begins here has more than ${size}.`, start);
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
    if (this.#parts > MAX_MEMBERS) this.#fail(`What begins here has more than ${MAX_MEMBERS} members.`, at);
  }

  #failDepth(at: number): never {
    this.#fail(`The JSON is nested more than ${MAX_DEPTH} deep.`, at);
  }

  #fail(message: string, at: number): never {
    throw new ReportError(message, { offset: this.#base + at });
  }
}

/** A value at one of the requested paths. */
export interface JsonMatch {
  /** The requested path. */
  path: string;
  /** Names and indices that lead to the value. */
  keys: readonly (string | number)[];
  value: unknown;
  /** Where it begins, in bytes from 0. */
  offset: number;
}

export interface JsonStreamOptions {
  /** Whether to allow a comma before the end of an array or object, as some tools write. */
  trailingCommas?: boolean;
  /** Parses a match in place of `JSON.parse`; an error ends the report. */
  parse?: (text: string) => unknown;
}

/** A node of the tree of requested paths. */
export interface PathNode {
  names: Map<string, PathNode>;
  any?: PathNode;
  /** Set if a path ends here. */
  path?: string;
}

/** @param paths names joined by dots; `*` for any name or index, `''` for the whole document */
export function compilePaths(paths: readonly string[]): PathNode {
  const root: PathNode = { names: new Map() };
  for (const path of paths) {
    let step = root;
    for (const name of path === '' ? [] : path.split('.')) {
      const next: PathNode = (name === '*' ? step.any : step.names.get(name)) ?? { names: new Map() };
      if (name === '*') step.any = next;
      else step.names.set(name, next);
      step = next;
    }
    step.path = path;
  }
  return root;
}

/** @returns the nodes below these for a name or an index */
export function matchPaths(steps: readonly PathNode[], name: string): PathNode[] {
  const next: PathNode[] = [];
  for (const { names, any } of steps) {
    const named = names.get(name);
    if (named !== undefined) next.push(named);
    if (any !== undefined) next.push(any);
  }
  return next;
}
