import { type ReadConnection, type Transaction, StorageError } from '../../db/database.ts';
import { inList, forKeyShare } from '../../db/dialect-sql.ts';

export interface StoredBlob {
  key: string;
  /** Hex. */
  sha256: string;
  /** Bytes. */
  size: number;
}

/** The blob was removed because it was unreferenced for too long. */
export class BlobMissing extends StorageError {
  override name = 'BlobMissing';

  constructor(key: string) {
    super('unavailable', `The file ${key} has been deleted.`);
  }
}

const [UNREFERENCED, REFERENCED, REMOVING] = [0, 1, 2];

/**
 * Records that a blob is about to be stored under a key. The blob is removed unless a file or an import retains it (ADR
 * 40).
 */
export async function reserveBlob(tx: Transaction, key: string, now: number): Promise<void> {
  await tx.insertInto('blobs').values({ key, created_at: now, state: UNREFERENCED }).execute();
}

/**
 * Creates the file of an organization for a blob. If the organization already has a file with this content, returns
 * that one; the new blob stays unreferenced and is removed.
 * @returns the id of the file
 * @throws BlobMissing once the removal of the blob has started; StorageError `conflict` if the same content is stored
 *   and removed concurrently
 */
export async function createFile(
  tx: Transaction,
  organizationId: number,
  { key, sha256, size }: StoredBlob,
): Promise<number> {
  const find = () =>
    tx
      .selectFrom('files')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('sha256', '=', sha256)
      .modifyEnd(forKeyShare(tx))
      .executeTakeFirst();
  const existing = await find();
  if (existing !== undefined) return existing.id;
  const created = await tx
    .insertInto('files')
    .values({ organization_id: organizationId, sha256, size, blob_key: key })
    .onConflict((conflict) => conflict.columns(['organization_id', 'sha256']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (created === undefined) {
    // A concurrent transaction created the file and may have deleted it.
    const concurrent = await find();
    if (concurrent === undefined) throw new StorageError('conflict', 'The file was deleted concurrently.');
    return concurrent.id;
  }
  await retainBlob(tx, key);
  return created.id;
}

/**
 * Retains an unreferenced blob until `releaseBlobs`. `createFile` calls it for files; call it for other references,
 * such as imports.
 * @throws BlobMissing once the removal of the blob has started
 */
export async function retainBlob(tx: Transaction, key: string): Promise<void> {
  const retained = await tx
    .updateTable('blobs')
    .set({ state: REFERENCED })
    .where('key', '=', key)
    .where('state', '=', UNREFERENCED)
    .returning('key')
    .executeTakeFirst();
  if (retained === undefined) throw new BlobMissing(key);
}

/** Marks blobs as unreferenced, so that the store removes them. */
export async function releaseBlobs(tx: Transaction, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx
    .updateTable('blobs')
    .set({ state: UNREFERENCED })
    .where((eb) => inList(tx, eb.ref('key'), keys))
    .where('state', '=', REFERENCED)
    .execute();
}

/** Deletes the files to which no attachment refers, and releases their blobs. */
export async function releaseFiles(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const deleted = await tx
    .deleteFrom('files')
    .where((eb) => inList(tx, eb.ref('id'), ids))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('attachments').select('attachments.id').whereRef('attachments.file_id', '=', 'files.id'),
        ),
      ),
    )
    .returning('blob_key')
    .execute();
  await releaseBlobs(
    tx,
    deleted.map((file) => file.blob_key),
  );
}

/** @returns the keys of unreferenced blobs created before a time */
export async function findUnusedBlobs(db: ReadConnection, before: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('blobs')
    .select('key')
    // Matches the condition of the partial index.
    .where('state', '<>', REFERENCED)
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return rows.map(({ key }) => key);
}

/** @returns those of the keys whose blobs are unreferenced */
export async function filterUnusedBlobs(db: ReadConnection, keys: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('blobs')
    .select('key')
    .where((eb) => inList(db, eb.ref('key'), keys))
    .where('state', '<>', REFERENCED)
    .execute();
  return rows.map(({ key }) => key);
}

/**
 * Blocks new references to unreferenced blobs before the store deletes them.
 * @returns the keys of the blocked blobs
 */
export async function startBlobRemoval(tx: Transaction, keys: readonly string[]): Promise<string[]> {
  const rows = await tx
    .updateTable('blobs')
    .set({ state: REMOVING })
    .where((eb) => inList(tx, eb.ref('key'), keys))
    .where('state', '<>', REFERENCED)
    .returning('key')
    .execute();
  return rows.map(({ key }) => key);
}

/** Deletes the rows of blobs that the store has deleted. */
export async function finishBlobRemoval(tx: Transaction, keys: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('blobs')
    .where('state', '=', REMOVING)
    .where((eb) => inList(tx, eb.ref('key'), keys))
    .execute();
}
