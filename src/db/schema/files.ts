import type { Generated } from 'kysely';

/** The files of organizations, and the content of the file stores. */
export interface FilesTables {
  blobs: BlobTable;
  blob_chunks: { key: string; number: number; bytes: Uint8Array };
  files: FileTable;
}

/** Content in a store. The row is inserted before the content is stored, and deleted after the content is. */
interface BlobTable {
  key: string;
  created_at: number;
  /** 0: unreferenced; 1: a file refers to it; 2: being removed, must not be referred to. */
  state: number;
}

interface FileTable {
  id: Generated<number>;
  organization_id: number;
  sha256: string;
  size: number;
  blob_key: string;
}
