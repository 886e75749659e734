import { type ChangeContext, type Caller, isAdminOf } from '../../auth/callers.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError } from '../shared/errors.ts';
import { releaseBlobs } from '../shared/files.ts';
import { addJob, cancelJob } from '../shared/jobs.ts';
import { IMPORT_JOB, importJobKey, serializeCaller } from './import-lifecycle.ts';
import { type ImportView, readImport } from './import-list.ts';
import { currentRights } from './import-permissions.ts';

/**
 * Cancels a queued import, and requests that a running one stops (operation 69).
 * @returns the import, and the content keys that are no longer used
 * @throws DomainError `not-found` if the caller cannot see it, `forbidden` if the caller neither started it nor is an
 *   admin, `conflict` if it has ended
 */
export async function cancelImport(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
): Promise<{ cancelled: ImportView; unused: string[] }> {
  const { state, organizationId } = await lockImport(tx, by.actor, id);
  if (state !== 'queued' && state !== 'running') throw new DomainError('import-ended', { state });
  const object = ['import', id] as const;
  await recordEvent(tx, by, {
    action: 'import.cancel',
    object,
    organizationId,
    before: { state },
    after: null,
  });
  if (state === 'running') {
    await tx.updateTable('imports').set({ cancel_requested: 1 }).where('id', '=', id).execute();
    return { cancelled: await readImport(tx, by.actor, id), unused: [] };
  }
  await cancelJob(tx, { key: importJobKey(id) });
  const { blob_key: key } = await tx
    .selectFrom('imports')
    .select('blob_key')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const unused = key === null ? [] : [key];
  await tx
    .updateTable('imports')
    .set({ state: 'cancelled', cancel_requested: 1, blob_key: null, finished_at: by.now })
    .where('id', '=', id)
    .execute();
  await releaseBlobs(tx, unused);
  const after = { state: 'cancelled' };
  await recordEvent(tx, by, { action: 'import.end', object, organizationId, before: null, after });
  return { cancelled: await readImport(tx, by.actor, id), unused };
}

/**
 * Queues the undo of an import that has ended (operation 82).
 * @throws DomainError `not-found` if the caller cannot see it, `forbidden` if the caller neither started it nor is an
 *   admin, `conflict` if it has not ended, or is undone or being undone
 */
export async function requestUndo(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
): Promise<ImportView> {
  const view = await lockImport(tx, by.actor, id);
  if (view.state === 'queued' || view.state === 'running') throw new DomainError('import-running');
  if (view.undone !== null) throw new DomainError('import-undone');
  const payload = { import: id, undoneBy: serializeCaller(by.actor) };
  const isFirst = await addJob(tx, IMPORT_JOB, payload, by.now, undefined, importJobKey(id));
  if (!isFirst) throw new DomainError('import-undo-running');
  return view;
}

/**
 * Checks again whether an undo that was queued may run. If not, the audit log has the reason, and others can request
 * it again.
 * @param by who requested it
 * @returns its caller with the rights that are left, or the reason as a sentence
 */
export async function startUndo(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
): Promise<{ caller: Caller } | { lostPermission: string }> {
  const caller = await currentRights(tx, by.actor);
  if (caller !== undefined && (await canUndo(tx, caller, id))) return { caller };
  const lostPermission =
    caller === undefined
      ? 'The account that requested the undo was banned.'
      : 'The account that requested the undo may no longer undo the import.';
  const row = await tx
    .selectFrom('imports')
    .select('organization_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (row !== undefined)
    await recordEvent(tx, by, {
      action: 'import.undo',
      object: ['import', id],
      organizationId: row.organization_id,
      before: null,
      after: { error: { message: lostPermission } },
    });
  return { lostPermission };
}

async function canUndo(db: ReadConnection, caller: Caller, id: number): Promise<boolean> {
  try {
    await requireStarterOrAdmin(db, caller, id);
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

async function requireStarterOrAdmin(db: ReadConnection, caller: Caller, id: number): Promise<void> {
  const { organizationId, createdBy } = await readImport(db, caller, id);
  const isStarter = createdBy !== null && createdBy.id === caller.userId;
  if (!isStarter && !isAdminOf(caller, organizationId)) throw new DomainError('import-starter-or-admin-only');
}

/** Locks an import, so that it can neither end nor be undone concurrently. */
async function lockImport(tx: Transaction, caller: Caller, id: number): Promise<ImportView> {
  await requireStarterOrAdmin(tx, caller, id);
  await tx.selectFrom('imports').select('id').where('id', '=', id).modifyEnd(forNoKeyUpdate(tx)).execute();
  return readImport(tx, caller, id);
}
