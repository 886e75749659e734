import { type ReadConnection, type Transaction, StorageError, WriteConflict } from '../../db/engine.ts';
import { inList, forKeyShare } from '../../db/dialect-sql.ts';

/** A content that a store has. */
export interface StoredContent {
  /** In the store. */
  key: string;
  /** Hex. */
  sha256: string;
  /** Bytes. */
  size: number;
}

/** A content was taken away before anything referred to it, as it had waited for too long. */
export class ContentMissing extends StorageError {
  override name = 'ContentMissing';
}

const [WAITING, KEPT, REMOVING] = [0, 1, 2];

/** Tells that a content may come under a key, so that it is taken away again unless a file keeps it (ADR 40). */
export async function reserveContent(tx: Transaction, key: string, now: number): Promise<void> {
  await tx.insertInto('blobs').values({ key, created_at: now, state: WAITING }).execute();
}

/**
 * Has an organization keep a content, once: where it has the same one already, that stays, and the new one is nobody's.
 * @returns the id of the file
 * @throws ContentGone when it is being removed, WriteConflict when others store and remove the same one
 */
export async function createFile(
  tx: Transaction,
  organizationId: number,
  { key, sha256, size }: StoredContent,
): Promise<number> {
  const find = () =>
    tx
      .selectFrom('files')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('sha256', '=', sha256)
      .modifyEnd(forKeyShare(tx))
      .executeTakeFirst();
  const known = await find();
  if (known !== undefined) return known.id;
  const created = await tx
    .insertInto('files')
    .values({ organization_id: organizationId, sha256, size, blob_key: key })
    .onConflict((conflict) => conflict.columns(['organization_id', 'sha256']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (created === undefined) {
    // Somebody else was faster, and may have taken it away again.
    const other = await find();
    if (other === undefined) throw new WriteConflict('The file was there, and is gone.');
    return other.id;
  }
  await retainContent(tx, key);
  return created.id;
}

/**
 * Keeps a content that something else than a file refers to, until `releaseContents`.
 * @throws ContentGone when it is being removed
 */
export async function retainContent(tx: Transaction, key: string): Promise<void> {
  const kept = await tx
    .updateTable('blobs')
    .set({ state: KEPT })
    .where('key', '=', key)
    .where('state', '=', WAITING)
    .returning('key')
    .executeTakeFirst();
  if (kept === undefined) throw new ContentMissing(`The content ${key} is gone.`);
}

/** Says that nothing refers to these contents any more; what the store has of them is then nobody's. */
export async function releaseContents(tx: Transaction, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx
    .updateTable('blobs')
    .set({ state: WAITING })
    .where((eb) => inList(tx, eb.ref('key'), keys))
    .where('state', '=', KEPT)
    .execute();
}

/** Deletes those of these files that no attachment refers to any more; what the store has of them is then nobody's. */
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
  await releaseContents(
    tx,
    deleted.map((file) => file.blob_key),
  );
}

/** @returns keys of contents that no file keeps and that came before a time */
export async function findUnusedContents(
  db: ReadConnection,
  before: number,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('blobs')
    .select('key')
    // As the index says it.
    .where('state', '<>', KEPT)
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return rows.map(({ key }) => key);
}

/** @returns those of these keys whose contents no file keeps */
export async function filterUnusedContents(db: ReadConnection, keys: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('blobs')
    .select('key')
    .where((eb) => inList(db, eb.ref('key'), keys))
    .where('state', '<>', KEPT)
    .execute();
  return rows.map(({ key }) => key);
}

/**
 * Sees to it that nothing refers to contents from now on, before the store loses them.
 * @returns the keys of those that no file keeps
 */
export async function beginRemoval(tx: Transaction, keys: readonly string[]): Promise<string[]> {
  const rows = await tx
    .updateTable('blobs')
    .set({ state: REMOVING })
    .where((eb) => inList(tx, eb.ref('key'), keys))
    .where('state', '<>', KEPT)
    .returning('key')
    .execute();
  return rows.map(({ key }) => key);
}

/** Forgets contents that the store has no more. */
export async function endRemoval(tx: Transaction, keys: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('blobs')
    .where('state', '=', REMOVING)
    .where((eb) => inList(tx, eb.ref('key'), keys))
    .execute();
}
