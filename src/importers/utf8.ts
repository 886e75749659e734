import { isAscii, isUtf8 } from 'node:buffer';

/** The bytes are not UTF-8. */
export class NotUtf8 extends Error {
  override name = 'NotUtf8';
  /** Of the first byte that is wrong, from 0. */
  readonly offset: number;
  /** What comes before it, from the start of the chunk. */
  readonly before: string;

  constructor(offset: number, before: string) {
    super(`Byte ${offset} is not UTF-8.`);
    this.offset = offset;
    this.before = before;
  }
}

/** Turns chunks of bytes into text, and refuses what is not UTF-8: a decoder that replaces it would hide the damage. */
export class Utf8Chunks {
  /** The beginning of a character whose end is in the next chunk. */
  #carried: Uint8Array = new Uint8Array(0);
  #decoded = 0;

  /**
   * @returns the text of the chunk, but for a character that it does not hold to its end
   * @throws NotUtf8
   */
  decode(chunk: Uint8Array): string {
    const bytes =
      this.#carried.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        : Buffer.concat([this.#carried, chunk]);
    const whole = isAscii(bytes) ? bytes.length : endOfWholeCharacters(bytes);
    const text = bytes.subarray(0, whole);
    if (!isUtf8(text)) {
      const wrong = firstWrongByte(text);
      throw new NotUtf8(this.#decoded + wrong, text.toString('utf8', 0, wrong));
    }
    this.#carried = Uint8Array.prototype.slice.call(bytes, whole);
    this.#decoded += whole;
    return text.toString('utf8');
  }

  /** @throws NotUtf8 when the last chunk ended in the middle of a character */
  end(): void {
    if (this.#carried.length > 0) throw new NotUtf8(this.#decoded, '');
  }
}

/** @returns the length without the character at the end that needs more bytes than there are */
function endOfWholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80 || byte >= 0xf8) break;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

function firstWrongByte(bytes: Uint8Array): number {
  let [right, wrong] = [0, bytes.length];
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1;
    const end = endOfWholeCharacters(bytes.subarray(0, middle));
    if (isUtf8(bytes.subarray(0, end))) right = middle;
    else wrong = middle;
  }
  return right;
}
