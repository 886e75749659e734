import type { Database } from '../db/database.ts';
import type { ByteStream, FileStore } from './file-store.ts';

/** Bytes per row. Fixed, so that the rows of a range are known without a search. */
const CHUNK_SIZE = 256 * 1024;

/** Stores files in the database, for deployments whose instances share no folder. */
export class DatabaseStore implements FileStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async write(key: string, content: ByteStream): Promise<void> {
    let number = 0;
    for await (const bytes of splitIntoChunks(content)) {
      const row = { key, number, bytes };
      await this.#db.write((tx) => tx.insertInto('blob_chunks').values(row).execute());
      number += 1;
    }
  }

  async *read(key: string, start: number, end: number): ByteStream {
    const last = Math.floor(end / CHUNK_SIZE);
    for (let number = Math.floor(start / CHUNK_SIZE); number <= last; number += 1) {
      const row = await this.#db.read
        .selectFrom('blob_chunks')
        .select('bytes')
        .where('key', '=', key)
        .where('number', '=', number)
        .executeTakeFirst();
      const begin = number * CHUNK_SIZE;
      if (row === undefined) throw new Error(`The file ${key} has at most ${begin} bytes.`);
      yield row.bytes.subarray(Math.max(0, start - begin), Math.min(CHUNK_SIZE, end + 1 - begin));
    }
  }

  async remove(key: string): Promise<void> {
    await this.#db.write((tx) => tx.deleteFrom('blob_chunks').where('key', '=', key).execute());
  }
}

async function* splitIntoChunks(content: ByteStream): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (let part of content) {
    while (size + part.length >= CHUNK_SIZE) {
      parts.push(part.subarray(0, CHUNK_SIZE - size));
      part = part.subarray(CHUNK_SIZE - size);
      yield Buffer.concat(parts);
      parts = [];
      size = 0;
    }
    parts.push(part);
    size += part.length;
  }
  if (size > 0) yield Buffer.concat(parts);
}
