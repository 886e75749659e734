import type { Database } from '../db/engine.ts';
import type { ByteStream, FileStore } from './file-store.ts';

/** Bytes of a row. Each but the last has as many, so that a range is found without looking. */
const CHUNK_SIZE = 256 * 1024;

/** Contents in rows of the database, for deployments without a folder that all instances share. */
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
      if (row === undefined) throw new Error(`The content ${key} ends before ${begin} bytes.`);
      yield row.bytes.subarray(Math.max(0, start - begin), Math.min(CHUNK_SIZE, end + 1 - begin));
    }
  }

  async remove(key: string): Promise<void> {
    await this.#db.write((tx) => tx.deleteFrom('blob_chunks').where('key', '=', key).execute());
  }
}

async function* splitIntoChunks(content: ByteStream): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (let piece of content) {
    while (size + piece.length >= CHUNK_SIZE) {
      pieces.push(piece.subarray(0, CHUNK_SIZE - size));
      piece = piece.subarray(CHUNK_SIZE - size);
      yield Buffer.concat(pieces);
      pieces = [];
      size = 0;
    }
    pieces.push(piece);
    size += piece.length;
  }
  if (size > 0) yield Buffer.concat(pieces);
}
