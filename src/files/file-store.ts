/** Bytes, piece by piece. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** Keeps contents by key. What is there under which key, and for whom, is the database's to know (ADR 40). */
export interface FileStore {
  /**
   * Keeps a content, durably once this resolves. What it leaves when it fails is taken away by `remove`.
   * @param key letters, digits and hyphens, never used before
   */
  write(key: string, content: ByteStream): Promise<void>;
  /** @returns the bytes from `start` to `end`, both included; it throws when they are not there */
  read(key: string, start: number, end: number): ByteStream;
  /** Removes whatever a key has; nothing is no error. */
  remove(key: string): Promise<void>;
}
