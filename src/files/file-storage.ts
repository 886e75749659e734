import { createHash, randomUUID } from 'node:crypto';
import type { Database } from '../db/engine.ts';
import {
  reserveContent,
  beginRemoval,
  endRemoval,
  type StoredContent,
  filterUnusedContents,
  findUnusedContents,
} from '../domain/shared/files.ts';
import type { ByteStream, FileStore } from './file-store.ts';

/** Rows that one unit of work is about, so that others need not wait long. */
const BATCH_SIZE = 100;
/** How long, in ms, a content waits for something to refer to it: longer than any request takes. */
const GRACE_PERIOD = 24 * 3_600_000;

/** Where contents go: the store, and the database that knows of them. */
export interface FileStorage {
  db: Database;
  files: FileStore;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/**
 * Stores a content under a key of its own. The database knows the key before the store does, so that a process that dies
 * leaves nothing for ever.
 * @param onKey told the key at once: whatever happens next, `discardContents` takes away what it has
 */
export async function storeContent(
  { db, files, clock }: FileStorage,
  content: ByteStream,
  onKey: (key: string) => void = () => undefined,
): Promise<StoredContent> {
  const key = randomUUID();
  await db.write((tx) => reserveContent(tx, key, clock()));
  onKey(key);
  const hash = createHash('sha256');
  let size = 0;
  await files.write(key, hashing());
  return { key, sha256: hash.digest('hex'), size };

  async function* hashing(): ByteStream {
    for await (const piece of content) {
      hash.update(piece);
      size += piece.length;
      yield piece;
    }
  }
}

/** Takes away those of these contents that no file keeps. */
export async function deleteUnreferenced(
  { db, files }: FileStorage,
  keys: readonly string[],
): Promise<number> {
  // A look costs less than a unit of work, and mostly all of them are kept.
  if (keys.length === 0 || (await filterUnusedContents(db.read, keys)).length === 0) return 0;
  const unused = await db.write((tx) => beginRemoval(tx, keys));
  for (const key of unused) await files.remove(key);
  if (unused.length > 0) await db.write((tx) => endRemoval(tx, unused));
  return unused.length;
}

/**
 * Takes away contents that no file keeps and that have waited for one long enough.
 * @returns how many are gone
 */
export async function deleteUnused(
  storage: FileStorage,
  isStopping: () => boolean = () => false,
): Promise<number> {
  const before = storage.clock() - GRACE_PERIOD;
  let removed = 0;
  while (!isStopping()) {
    const keys = await findUnusedContents(storage.db.read, before, BATCH_SIZE);
    const gone = await deleteUnreferenced(storage, keys);
    if (gone === 0) break;
    removed += gone;
  }
  return removed;
}
