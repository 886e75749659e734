/** Captures a part of a byte stream as text, across chunks. */
export class TextCapture {
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #start = -1;
  #largest = 0;

  get isActive(): boolean {
    return this.#start >= 0;
  }

  /** Start within the current chunk. */
  get start(): number {
    return this.#start;
  }

  get maxBytes(): number {
    return this.#largest;
  }

  begin(at: number, largest: number): void {
    this.#start = at;
    this.#largest = largest;
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
    // The producer may reuse the chunk.
    this.#parts.push(Uint8Array.prototype.slice.call(chunk, this.#start, end));
    return true;
  }
}
