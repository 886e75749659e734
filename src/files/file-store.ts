import { join } from 'node:path';
import type { AttachmentStore } from '../attachments-config.ts';
import type { Database } from '../db/engine.ts';
import { DatabaseStore } from './database-store.ts';
import { FolderStore } from './folder-store.ts';
import { S3Store } from './s3-store.ts';

/** Bytes, piece by piece. */
export type Content = AsyncIterable<Uint8Array>;

/** Keeps contents by key. What is there under which key, and for whom, is the database's to know (ADR 40). */
export interface FileStore {
  /**
   * Keeps a content, durably once this resolves. What it leaves when it fails is taken away by `remove`.
   * @param key letters, digits and hyphens, never used before
   */
  write(key: string, content: Content): Promise<void>;
  /** @returns the bytes from `start` to `end`, both included; it throws when they are not there */
  read(key: string, start: number, end: number): Content;
  /** Removes whatever a key has; nothing is no error. */
  remove(key: string): Promise<void>;
}

/** @returns the store that is configured, or else a folder beside a database that is a file, and else the database itself */
export function openFileStore(
  { attachments, dataDirectory }: { attachments: AttachmentStore | undefined; dataDirectory: string },
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
