import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { AttachmentStoreConfig } from '../config/attachment-store.ts';
import type { Database } from '../db/database.ts';
import {
  startBlobRemoval,
  finishBlobRemoval,
  filterUnusedBlobs,
  findUnusedBlobs,
  reserveBlob,
  type StoredBlob,
} from '../domain/shared/files.ts';
import { DatabaseStore } from './database-store.ts';
import type { ByteStream, FileStore } from './file-store.ts';
import { FolderStore } from './folder-store.ts';
import { S3Store } from './s3-store.ts';

/** Rows per transaction, so that other writers do not wait long. */
const BATCH_SIZE = 100;
/**
 * Milliseconds from the creation of a file until it is deleted if no row refers to it: longer than any request takes.
 */
const GRACE_PERIOD = 24 * 3_600_000;

/** The file store, and the database that records its contents. */
export interface FileStorage {
  db: Database;
  files: FileStore;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** Opens the configured store. The default is a folder in the data folder on SQLite, and the database on PostgreSQL. */
export function openFileStore(
  { attachments, dataDirectory }: { attachments: AttachmentStoreConfig | undefined; dataDirectory: string },
  db: Database,
): FileStore {
  switch (attachments?.kind) {
    case 'folder':
      return new FolderStore(attachments.folder);
    case 's3':
      return new S3Store(attachments);
    default:
      return db.engine === 'sqlite'
        ? new FolderStore(join(dataDirectory, 'attachments'))
        : new DatabaseStore(db);
  }
}

/**
 * Stores a file under a new key. The key is recorded in the database first, so that the file of a process that dies is
 * deleted later.
 * @param onKey called with the key before the file is written, so that the caller can pass it to `deleteUnreferenced`
 *   if a later step fails
 */
export async function storeContent(
  { db, files, clock }: FileStorage,
  content: ByteStream,
  onKey: (key: string) => void = () => undefined,
): Promise<StoredBlob> {
  const key = randomUUID();
  await db.write((tx) => reserveBlob(tx, key, clock()));
  onKey(key);
  const hash = createHash('sha256');
  let size = 0;
  await files.write(key, hashing());
  return { key, sha256: hash.digest('hex'), size };

  async function* hashing(): ByteStream {
    for await (const chunk of content) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  }
}

/** Deletes those of these files that no row refers to. @returns how many */
export async function deleteUnreferenced(
  { db, files }: FileStorage,
  keys: readonly string[],
): Promise<number> {
  // A read is cheaper than a transaction, and mostly all are referenced.
  if (keys.length === 0 || (await filterUnusedBlobs(db.read, keys)).length === 0) return 0;
  const unused = await db.write((tx) => startBlobRemoval(tx, keys));
  for (const key of unused) await files.remove(key);
  if (unused.length > 0) await db.write((tx) => finishBlobRemoval(tx, unused));
  return unused.length;
}

/**
 * Deletes files that no row refers to and that were created before the grace period.
 * @param isStopping checked between batches
 * @returns how many
 */
export async function deleteUnused(
  storage: FileStorage,
  isStopping: () => boolean = () => false,
): Promise<number> {
  const before = storage.clock() - GRACE_PERIOD;
  let total = 0;
  while (!isStopping()) {
    const keys = await findUnusedBlobs(storage.db.read, before, BATCH_SIZE);
    const deleted = await deleteUnreferenced(storage, keys);
    if (deleted === 0) break;
    total += deleted;
  }
  return total;
}
