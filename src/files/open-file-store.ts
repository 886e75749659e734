import { join } from 'node:path';
import type { AttachmentStoreConfig } from '../config/attachment-store.ts';
import type { Database } from '../db/engine.ts';
import { DatabaseStore } from './database-store.ts';
import type { FileStore } from './file-store.ts';
import { FolderStore } from './folder-store.ts';
import { S3Store } from './s3-store.ts';

/** @returns the store that is configured, or else a folder beside a database that is a file, and else the database itself */
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
