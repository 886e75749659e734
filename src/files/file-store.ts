import { join } from 'node:path';
import type { AttachmentStoreConfig } from '../config/attachment-store.ts';
import type { Database } from '../db/database.ts';
import { DatabaseStore } from './database-store.ts';
import { FolderStore } from './folder-store.ts';
import { S3Store } from './s3-store.ts';

/** Bytes in chunks of any size. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** Stores files by key. The database records which keys exist and who may read them (ADR 40). */
export interface FileStore {
  /**
   * Resolves once the file is durable. After a failure, `remove` deletes what was written.
   * @param key letters, digits and hyphens, never used before
   */
  write(key: string, content: ByteStream): Promise<void>;
  /** Reads the bytes from `start` to `end`, both included. Throws if they do not exist. */
  read(key: string, start: number, end: number): ByteStream;
  /** Deletes a file, or the rest of a failed write. Does nothing for an unknown key. */
  remove(key: string): Promise<void>;
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
