/** Bytes in chunks of any size. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** Stores files by key. The database records which keys exist and who may read them (ADR 40). */
export interface FileStore {
  /**
   * Resolves once the file is durable. After a failure, `remove` deletes what was written.
   * @param key letters, digits and hyphens, never used before
   */
  write(key: string, content: ByteStream): Promise<void>;
  /**
   * Reads the bytes from `start` to `end`, both included. Throws if the file does not exist. Yields fewer bytes,
   * without an error, if the file is shorter.
   */
  read(key: string, start: number, end: number): ByteStream;
  /** Deletes a file, or the rest of a failed write. Does nothing for an unknown key. */
  remove(key: string): Promise<void>;
}
