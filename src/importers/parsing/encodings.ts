import { isAscii } from 'node:buffer';

/**
 * Converts bytes to UTF-8 without a byte order mark. Recognises UTF-16 by its mark; anything else passes unchanged, and
 * decoding replaces invalid UTF-8 by U+FFFD.
 */
export async function* toUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let decoder: TextDecoder | undefined;
  let hasStarted = false;
  let first: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    if (hasStarted) {
      yield decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
      continue;
    }
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk]);
    if (first.length < 3) {
      first = first.slice();
      continue;
    }
    hasStarted = true;
    decoder = decoderForBom(first);
    yield decoder === undefined ? stripBom(first) : Buffer.from(decoder.decode(first, { stream: true }));
  }
  if (!hasStarted && first.length > 0) yield Buffer.from(decoderForBom(first)?.decode(first) ?? first);
  else if (decoder !== undefined) yield Buffer.from(decoder.decode());
}

/** @returns a decoder if the bytes begin with the byte order mark of UTF-16 (WHATWG Encoding, section 6.1) */
function decoderForBom(bytes: Uint8Array): TextDecoder | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le');
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be');
  return undefined;
}

function stripBom(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/**
 * Replaces lone surrogates by U+FFFD; only JSON escapes can produce them.
 * @param text the JSON that the value was parsed from
 */
export function replaceLoneSurrogates(value: unknown, text: string): unknown {
  return /\\u[dD][89a-fA-F]/.test(text) ? replaceDeep(value) : value;
}

/** Recursion is safe, because the JSON reader limits the depth. */
function replaceDeep(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(replaceDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), replaceDeep(member)]),
  );
}

/** Maximum bytes of an XML declaration. */
const MAX_DECLARATION = 256;

/**
 * Decodes chunks into text without a byte order mark. Recognises UTF-16 by its mark, and the encoding of an XML
 * declaration if WHATWG defines it. Invalid UTF-8 becomes U+FFFD.
 */
export class StreamingTextDecoder {
  /** Start of a character that ends in the next chunk. */
  #carried: Uint8Array = new Uint8Array(0);
  #decoder: TextDecoder | undefined;
  #hasStarted = false;

  /** @returns the text of the chunk, up to its last complete character */
  decode(chunk: Uint8Array): string {
    let bytes =
      this.#carried.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        : Buffer.concat([this.#carried, chunk]);
    if (!this.#hasStarted) {
      this.#carried = Uint8Array.prototype.slice.call(bytes);
      const hasDeclaration = /^\s*<\?/.test(bytes.toString('latin1', 0, MAX_DECLARATION));
      if (bytes.length < 3 || (hasDeclaration && bytes.length < MAX_DECLARATION && !bytes.includes(0x3e)))
        return '';
      bytes = this.#start(bytes);
    }
    if (this.#decoder !== undefined) return this.#decoder.decode(bytes, { stream: true });
    const complete = isAscii(bytes) ? bytes.length : lengthOfWholeCharacters(bytes);
    this.#carried = Uint8Array.prototype.slice.call(bytes, complete);
    return bytes.toString('utf8', 0, complete);
  }

  /** @returns the rest, if the last chunk ended inside a character or a declaration */
  end(): string {
    const rest = this.#hasStarted ? Buffer.from(this.#carried) : this.#start(this.#carried);
    return this.#decoder === undefined ? rest.toString() : this.#decoder.decode(rest);
  }

  #start(bytes: Uint8Array): Buffer {
    this.#hasStarted = true;
    this.#carried = new Uint8Array(0);
    this.#decoder = decoderForBom(bytes) ?? declaredDecoder(bytes);
    const rest = this.#decoder === undefined ? stripBom(bytes) : bytes;
    return Buffer.from(rest.buffer, rest.byteOffset, rest.byteLength);
  }
}

function declaredDecoder(bytes: Uint8Array): TextDecoder | undefined {
  const head = Buffer.from(bytes.subarray(0, MAX_DECLARATION)).toString('latin1');
  const [, name] = /^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head) ?? [];
  if (name === undefined || /^(utf-?8|us-ascii)$/i.test(name)) return undefined;
  try {
    const decoder = new TextDecoder(name);
    // The declaration was readable as single bytes, so it is not UTF-16.
    return decoder.encoding.startsWith('utf') ? undefined : decoder;
  } catch {
    return undefined;
  }
}

/** @returns the length without an incomplete character at the end */
function lengthOfWholeCharacters(bytes: Uint8Array): number {
  for (let distance = 1; distance <= Math.min(3, bytes.length); distance += 1) {
    const byte = bytes[bytes.length - distance] as number;
    if (byte < 0x80 || byte >= 0xf8) break;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > distance ? bytes.length - distance : bytes.length;
    }
  }
  return bytes.length;
}

/**
 * Peeks at the start of a report.
 * @returns its first two characters that are neither white space nor a byte order mark, or fewer at its end, and a
 *   stream of all bytes
 */
export async function peekStart(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ start: string; all: AsyncIterable<Uint8Array> }> {
  const rest = chunks[Symbol.asyncIterator]();
  const peeked: Uint8Array[] = [];
  let start = '';
  while (start.length < 2) {
    const { value, done } = await rest.next();
    if (done === true) break;
    // The producer may reuse the chunk.
    const chunk = Uint8Array.prototype.slice.call(value);
    // In UTF-8, the byte order mark and the zero bytes of UTF-16 decode to these characters.
    start += new TextDecoder()
      .decode(chunk)
      .replace(/[\s\uFEFF\uFFFD\0]+/g, '')
      .slice(0, 2);
    peeked.push(chunk);
  }
  async function* streamAll(): AsyncGenerator<Uint8Array, void> {
    try {
      yield* peeked.splice(0);
      for (;;) {
        const { value, done } = await rest.next();
        if (done === true) return;
        yield value;
      }
    } finally {
      await rest.return?.();
    }
  }
  return { start: start.slice(0, 2), all: streamAll() };
}

/** Captures a part of a byte stream as text, across chunks. */
export class TextCapture {
  #parts: Uint8Array[] = [];
  #bytes = 0;
  /** Within the current chunk; -1 if nothing is captured. */
  #start = -1;
  #maxBytes = 0;

  get isActive(): boolean {
    return this.#start >= 0;
  }

  get maxBytes(): number {
    return this.#maxBytes;
  }

  begin(start: number, maxBytes: number): void {
    this.#start = start;
    this.#maxBytes = maxBytes;
  }

  /** Copies the rest of a chunk, to continue in the next. @returns false if the capture is too long */
  carryOver(chunk: Uint8Array): boolean {
    if (!this.isActive) return true;
    if (!this.#add(chunk, chunk.length)) return false;
    this.#start = 0;
    return true;
  }

  /** Ends the capture. @returns `undefined` if it is too long */
  take(chunk: Uint8Array, end: number): string | undefined {
    let text: string;
    if (this.#parts.length === 0) {
      if (end - this.#start > this.#maxBytes) return undefined;
      text = Buffer.from(chunk.buffer, chunk.byteOffset + this.#start, end - this.#start).toString();
    } else {
      if (!this.#add(chunk, end)) return undefined;
      text = Buffer.concat(this.#parts).toString();
    }
    this.#parts = [];
    this.#bytes = 0;
    this.#start = -1;
    return text;
  }

  #add(chunk: Uint8Array, end: number): boolean {
    this.#bytes += end - this.#start;
    if (this.#bytes > this.#maxBytes) return false;
    // The producer may reuse the chunk.
    this.#parts.push(Uint8Array.prototype.slice.call(chunk, this.#start, end));
    return true;
  }
}
