import { toUtf8, replaceLoneSurrogates, TextCapture } from './encodings.ts';
import { ReportError } from '../report.ts';

/**
 * Streams the values at the given paths of a JSON document: names joined by dots, `*` for any name or index, `''` for
 * the whole document (`['runs.*.tool', 'runs.*.results.*']`). Skips everything else, whatever its size. Values inside a
 * match are not matched again.
 * @throws ReportError with the byte if the document is invalid or truncated, or a match exceeds 16 MiB; yields the
 *   matches before it first
 */
export async function* streamJsonMatches(
  chunks: AsyncIterable<Uint8Array>,
  paths: readonly string[],
  options: JsonStreamOptions = {},
): AsyncGenerator<JsonMatch, void> {
  const scanner = new JsonScanner(compilePaths(paths, options.begins), options);
  for await (const chunk of toUtf8(chunks)) {
    let failure: unknown;
    try {
      scanner.write(chunk);
    } catch (error) {
      failure = error;
    }
    yield* scanner.takeMatches();
    if (failure !== undefined) throw failure;
  }
  scanner.end();
  yield* scanner.takeMatches();
}

/**
 * Collects parts of a report that others refer to, for formats whose members may come in any order. If the report is
 * truncated, the caller reads as far as it can and throws the returned error where it needs a part that is missing.
 * @param take receives each match; it must store a bounded part of them
 * @returns the error at which reading stopped
 */
export async function collectMatches(
  chunks: AsyncIterable<Uint8Array>,
  paths: readonly string[],
  take: (match: JsonMatch) => void,
  options: JsonStreamOptions = {},
): Promise<ReportError | undefined> {
  try {
    for await (const match of streamJsonMatches(chunks, paths, options)) take(match);
  } catch (error) {
    if (error instanceof ReportError) return error;
    throw error;
  }
  return undefined;
}

const MAX_DEPTH = 200;
const MAX_MATCH = 16 * 1024 * 1024;
/** Arrays, objects and commas per match: a small file can need much memory. */
const MAX_MEMBERS = 1_000_000;
const MAX_KEY = 64 * 1024;
const MAX_LITERAL = 1_024;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The tokens that may follow, outside matches. */
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

interface Frame {
  isArray: boolean;
  key: string | number;
  nodes: readonly PathNode[];
}

/** Finds matches in JSON that arrives in chunks. */
class JsonScanner {
  readonly #options: JsonStreamOptions;
  readonly #hasBegins: boolean;
  #matches: JsonMatch[] = [];
  #frames: Frame[] = [];
  #expected: Expected = 'value';
  #nodes: readonly PathNode[];
  /** Bytes before the current chunk. */
  #chunkStart = 0;
  #inString = false;
  #escaped = false;
  #inLiteral = false;
  /** The current key, literal or match. */
  readonly #capture = new TextCapture();
  /** Where the captured value begins, in bytes from the start. */
  #captureOffset = 0;
  #path: string | undefined;
  #offset = 0;
  /** Depth within the match; 0 if it is neither an array nor an object. */
  #depth = 0;
  #members = 0;

  constructor(root: PathNode, options: JsonStreamOptions) {
    this.#nodes = [root];
    this.#options = options;
    this.#hasBegins = options.begins !== undefined;
  }

  takeMatches(): JsonMatch[] {
    const matches = this.#matches;
    this.#matches = [];
    return matches;
  }

  write(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index += 1) {
      if (this.#inString) {
        index = this.#endOfString(bytes, index);
        if (index === bytes.length) break;
        this.#inString = false;
        if (this.#depth === 0) this.#endString(bytes, index);
      } else if (this.#depth > 0) {
        index = this.#scanMatch(bytes, index);
      } else {
        this.#scanByte(bytes, index);
      }
    }
    if (!this.#capture.carryOver(bytes)) this.#failTooLarge();
    this.#chunkStart += bytes.length;
  }

  /** @throws ReportError if the document is incomplete */
  end(): void {
    if (this.#inLiteral) this.#endLiteral(new Uint8Array(0), 0);
    if (this.#expected === 'nothing') return;
    const isEmpty = this.#frames.length === 0 && !this.#inString && this.#path === undefined;
    this.#fail(isEmpty ? 'The report is empty.' : 'The report is truncated: its JSON is incomplete.', 0);
  }

  /** @returns the index of the closing quote, or the length of the chunk */
  #endOfString(bytes: Uint8Array, from: number): number {
    let escaped = this.#escaped;
    let index = from;
    for (; index < bytes.length; index += 1) {
      const byte = bytes[index];
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) break;
    }
    this.#escaped = escaped;
    return index;
  }

  /**
   * Scans a match up to the next string, its end or the end of the chunk. @returns the index of the last byte read, or
   * the length of the chunk
   */
  #scanMatch(bytes: Uint8Array, from: number): number {
    for (let index = from; index < bytes.length; index += 1) {
      switch (bytes[index]) {
        case QUOTE:
          this.#inString = true;
          return index;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#depth += 1;
          this.#countMember(index);
          if (this.#depth + this.#frames.length > MAX_DEPTH) this.#failTooDeep(index);
          break;
        case COMMA:
          this.#countMember(index);
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#depth -= 1;
          if (this.#depth === 0) {
            this.#endMatch(bytes, index + 1);
            return index;
          }
          break;
      }
    }
    return bytes.length;
  }

  #scanByte(bytes: Uint8Array, index: number): void {
    const byte = bytes[index] as number;
    const isSpace = byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    if (this.#inLiteral) {
      if (!isSpace && byte !== COMMA && byte !== CLOSE_BRACKET && byte !== CLOSE_BRACE) return;
      this.#endLiteral(bytes, index);
    }
    if (isSpace) return;
    switch (this.#expected) {
      case 'value or end':
        if (byte === CLOSE_BRACKET) this.#endContainer(byte, index);
        else this.#beginValue(byte, index);
        break;
      case 'value':
        if (byte === CLOSE_BRACKET && this.#options.trailingCommas === true && this.#frames.length > 0)
          this.#endContainer(byte, index);
        else this.#beginValue(byte, index);
        break;
      case 'key or end':
      case 'key':
        if (
          byte === CLOSE_BRACE &&
          (this.#expected === 'key or end' || this.#options.trailingCommas === true)
        )
          this.#endContainer(byte, index);
        else if (byte === QUOTE) {
          // No path leads here: skip names like values.
          if (this.#frames.at(-1)?.nodes.length === 0) this.#inString = true;
          else this.#beginText(index, MAX_KEY);
        } else this.#fail('Invalid JSON: a name is expected here.', index);
        break;
      case 'colon':
        if (byte !== COLON) this.#fail('Invalid JSON: a colon is expected here.', index);
        this.#expected = 'value';
        break;
      case 'comma or end':
        if (byte === COMMA) this.#onComma();
        else this.#endContainer(byte, index);
        break;
      case 'nothing':
        this.#fail('Invalid JSON: more text follows its end.', index);
    }
  }

  #beginValue(byte: number, index: number): void {
    const path = this.#nodes.find((node) => node.path !== undefined)?.path;
    if (this.#hasBegins) this.#addBegun(index);
    const isContainer = byte === OPEN_BRACE || byte === OPEN_BRACKET;
    if (path !== undefined) {
      this.#path = path;
      this.#offset = this.#chunkStart + index;
      this.#members = 0;
      this.#beginCapture(index, MAX_MATCH);
      if (isContainer) {
        this.#depth = 1;
        if (this.#frames.length + 1 > MAX_DEPTH) this.#failTooDeep(index);
        return;
      }
    } else if (isContainer) {
      if (this.#frames.length + 1 > MAX_DEPTH) this.#failTooDeep(index);
      const isArray = byte === OPEN_BRACKET;
      this.#frames.push({ isArray, key: isArray ? 0 : '', nodes: this.#nodes });
      this.#expected = isArray ? 'value or end' : 'key or end';
      if (isArray) this.#enterMember(0);
      return;
    }
    if (byte === QUOTE) {
      this.#inString = true;
      return;
    }
    // A number, `true`, `false` or `null`.
    if (byte !== 0x2d && (byte < 0x30 || byte > 0x39) && byte !== 0x74 && byte !== 0x66 && byte !== 0x6e) {
      this.#fail('Invalid JSON: a value is expected here.', index);
    }
    this.#inLiteral = true;
    this.#beginCapture(index, MAX_LITERAL);
  }

  #addBegun(index: number): void {
    const path = this.#nodes.find((node) => node.begins !== undefined)?.begins;
    if (path === undefined) return;
    const keys = this.#frames.map(({ key }) => key);
    this.#matches.push({ path, keys, value: undefined, offset: this.#chunkStart + index });
  }

  #beginText(index: number, maxBytes: number): void {
    this.#inString = true;
    this.#beginCapture(index, maxBytes);
  }

  #endString(bytes: Uint8Array, index: number): void {
    if (this.#path !== undefined) this.#endMatch(bytes, index + 1);
    else if (this.#capture.isActive) {
      this.#enterMember(this.#parsed(this.#takeCapture(bytes, index + 1), JSON.parse, index) as string);
      this.#expected = 'colon';
    } else if (this.#expected === 'key' || this.#expected === 'key or end') this.#expected = 'colon';
    else this.#endValue();
  }

  #endLiteral(bytes: Uint8Array, index: number): void {
    this.#inLiteral = false;
    if (this.#path !== undefined) return this.#endMatch(bytes, index);
    this.#parsed(this.#takeCapture(bytes, index), JSON.parse, index);
    this.#endValue();
  }

  #endMatch(bytes: Uint8Array, end: number): void {
    const text = this.#takeCapture(bytes, end);
    const { parse = JSON.parse } = this.#options;
    const value = replaceLoneSurrogates(this.#parsed(text, parse, this.#offset - this.#chunkStart), text);
    const keys = this.#frames.map(({ key }) => key);
    this.#matches.push({ path: this.#path as string, keys, value, offset: this.#offset });
    this.#path = undefined;
    this.#endValue();
  }

  #endValue(): void {
    this.#expected = this.#frames.length === 0 ? 'nothing' : 'comma or end';
  }

  #onComma(): void {
    const frame = this.#frames.at(-1) as Frame;
    this.#expected = frame.isArray ? 'value' : 'key';
    if (frame.isArray) this.#enterMember((frame.key as number) + 1);
  }

  #enterMember(key: string | number): void {
    const frame = this.#frames.at(-1) as Frame;
    frame.key = key;
    if (frame.nodes.length === 0) return void (this.#nodes = frame.nodes);
    this.#nodes = matchPaths(frame.nodes, String(key));
  }

  #endContainer(byte: number, index: number): void {
    const frame = this.#frames.pop();
    if (frame === undefined || byte !== (frame.isArray ? CLOSE_BRACKET : CLOSE_BRACE))
      this.#fail('Invalid JSON: a comma or a closing bracket is expected here.', index);
    this.#endValue();
  }

  #beginCapture(index: number, maxBytes: number): void {
    this.#captureOffset = this.#chunkStart + index;
    this.#capture.begin(index, maxBytes);
  }

  #takeCapture(bytes: Uint8Array, end: number): string {
    return this.#capture.take(bytes, end) ?? this.#failTooLarge();
  }

  #failTooLarge(): never {
    const { maxBytes } = this.#capture;
    const size = maxBytes === MAX_MATCH ? '16 MiB' : `${maxBytes} bytes`;
    this.#fail(`This value exceeds ${size}.`, this.#captureOffset - this.#chunkStart);
  }

  #parsed(text: string, parse: (text: string) => unknown, index: number): unknown {
    try {
      return parse(text);
    } catch {
      this.#fail('Invalid JSON: this value cannot be parsed.', index);
    }
  }

  #countMember(index: number): void {
    this.#members += 1;
    if (this.#members > MAX_MEMBERS) this.#fail(`This value has more than ${MAX_MEMBERS} members.`, index);
  }

  #failTooDeep(index: number): never {
    this.#fail(`The JSON is nested more than ${MAX_DEPTH} levels deep.`, index);
  }

  #fail(message: string, index: number): never {
    throw new ReportError(message, { offset: this.#chunkStart + index });
  }
}

export interface JsonMatch {
  path: string;
  /** Names and indices that lead to the value. */
  keys: readonly (string | number)[];
  value: unknown;
  /** Where it begins, in bytes from 0. */
  offset: number;
}

export interface JsonStreamOptions {
  /** Paths of values to yield, without content, where they begin: an empty array has no other match. */
  begins?: readonly string[];
  /** Whether to allow a comma before the end of an array or object, as some tools write. */
  trailingCommas?: boolean;
  /** Parses a match in place of `JSON.parse`; an error ends the report. */
  parse?: (text: string) => unknown;
}

interface PathNode {
  names: Map<string, PathNode>;
  wildcard?: PathNode;
  /** Set if a path ends here. */
  path?: string;
  /** Set if a path of `begins` ends here. */
  begins?: string;
}

/** @param paths names joined by dots; `*` for any name or index, `''` for the whole document */
function compilePaths(paths: readonly string[], begins: readonly string[] = []): PathNode {
  const root: PathNode = { names: new Map() };
  const nodeAt = (path: string): PathNode => {
    let node = root;
    for (const name of path === '' ? [] : path.split('.')) {
      const next: PathNode = (name === '*' ? node.wildcard : node.names.get(name)) ?? { names: new Map() };
      if (name === '*') node.wildcard = next;
      else node.names.set(name, next);
      node = next;
    }
    return node;
  };
  for (const path of paths) nodeAt(path).path = path;
  for (const path of begins) nodeAt(path).begins = path;
  return root;
}

/** @returns the nodes below these for a name or an index */
function matchPaths(nodes: readonly PathNode[], name: string): PathNode[] {
  const next: PathNode[] = [];
  for (const { names, wildcard } of nodes) {
    const child = names.get(name);
    if (child !== undefined) next.push(child);
    if (wildcard !== undefined) next.push(wildcard);
  }
  return next;
}
