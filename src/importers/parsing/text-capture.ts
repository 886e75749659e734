/** A part of a stream of bytes that is wanted as text, and may lie in several chunks. */
export class TextCapture {
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #start = -1;
  #largest = 0;

  /** Whether one has begun. */
  get isActive(): boolean {
    return this.#start >= 0;
  }

  /** Where it begins in the present chunk. */
  get start(): number {
    return this.#start;
  }

  /** The most bytes that it may have. */
  get maxBytes(): number {
    return this.#largest;
  }

  begin(at: number, largest: number): void {
    this.#start = at;
    this.#largest = largest;
  }

  /** Keeps what the chunk has of it, as it goes on in the next one. @returns whether it is not too long */
  carryOver(chunk: Uint8Array): boolean {
    if (!this.isActive) return true;
    if (!this.#add(chunk, chunk.length)) return false;
    this.#start = 0;
    return true;
  }

  /** Ends it. @returns nothing when it is too long */
  take(chunk: Uint8Array, end: number): string | undefined {
    let text: string;
    if (this.#parts.length === 0) {
      if (end - this.#start > this.#largest) return undefined;
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
    if (this.#bytes > this.#largest) return false;
    // A chunk may be written over by whoever gave it.
    this.#parts.push(Uint8Array.prototype.slice.call(chunk, this.#start, end));
    return true;
  }
}
