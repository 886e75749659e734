import type { Generated } from 'kysely';

/** Contents that organizations keep, and what of them is in which store. */
export interface FilesTables {
  blobs: BlobTable;
  blob_chunks: { key: string; number: number; bytes: Uint8Array };
  files: FileTable;
}

/** What a store may have under a key: the row is there before the content, and goes after it. */
interface BlobTable {
  key: string;
  created_at: number;
  /** 0: nothing refers to it yet, or any more; 1: a file keeps it; 2: it is being removed, and nothing may refer to it. */
  state: number;
}

interface FileTable {
  id: Generated<number>;
  organization_id: number;
  sha256: string;
  size: number;
  blob_key: string;
}
