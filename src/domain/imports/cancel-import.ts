import { type ChangeContext, type Caller, isAdminOf } from '../../auth/callers.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { belongsToStaff, permissionError } from '../shared/permissions.ts';
import { DomainError } from '../shared/errors.ts';
import { releaseBlobs } from '../shared/files.ts';
import { addJob, cancelJob, setJobPayload } from '../shared/jobs.ts';
import { deserializeCaller, IMPORT_JOB, importJobKey, serializeCaller } from './import-lifecycle.ts';
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

/** The payload of an undo job. Callers are serialized. */
export interface UndoPayload {
  import: number;
  /** Who requested it. */
  undoneBy: string;
  /** Who requested it, with the rights left when it started. */
  startedBy?: string;
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
  const payload: UndoPayload = { import: id, undoneBy: serializeCaller(by.actor) };
  const isFirst = await addJob(tx, IMPORT_JOB, payload, by.now, undefined, importJobKey(id));
  if (!isFirst) throw new DomainError('import-undo-running');
  return view;
}

/**
 * Starts an undo that was queued, with the rights that the account of its caller still has. If it may no longer run,
 * the audit log has the reason, and others can request it again. One that has started continues with the rights of its
 * start, so that it does not stay incomplete.
 * @returns its caller, or the reason as a sentence
 */
export async function startUndo(
  tx: Transaction,
  { import: id, undoneBy, startedBy }: UndoPayload,
  now: number,
): Promise<{ caller: Caller } | { lostPermission: string }> {
  if (startedBy !== undefined) return { caller: deserializeCaller(startedBy) };
  const requestedBy = deserializeCaller(undoneBy);
  const caller = await currentRights(tx, requestedBy);
  if (caller !== undefined && (await canUndo(tx, caller, id))) {
    const payload: UndoPayload = { import: id, undoneBy, startedBy: serializeCaller(caller) };
    await setJobPayload(tx, importJobKey(id), payload);
    return { caller };
  }
  const lostPermission =
    caller === undefined
      ? 'The account that requested the undo was banned.'
      : 'The account that requested the undo may no longer undo the import.';
  await recordFailedUndo(tx, { actor: requestedBy, now }, id, lostPermission);
  return { lostPermission };
}

/** Records in the audit log why an undo ended without a result. It can be requested again, and then continues. */
export async function recordFailedUndo(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
  message: string,
): Promise<void> {
  const row = await tx
    .selectFrom('imports')
    .select('organization_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return;
  await recordEvent(tx, by, {
    action: 'import.undo',
    object: ['import', id],
    organizationId: row.organization_id,
    before: null,
    after: { error: { message } },
  });
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
  const { organizationId, createdBy, byStaff, isPermitted } = await readImport(db, caller, id);
  const isStarter = createdBy !== null && createdBy.id === caller.userId;
  const isAdmin = isAdminOf(caller, organizationId);
  if (!isStarter && !isAdmin) throw new DomainError('import-starter-or-admin-only');
  if (belongsToStaff(caller, byStaff)) throw new DomainError('staff-import');
  if (!isAdmin && !isPermitted) throw permissionError('report');
}

/** Locks an import, so that it can neither end nor be undone concurrently. */
async function lockImport(tx: Transaction, caller: Caller, id: number): Promise<ImportView> {
  await requireStarterOrAdmin(tx, caller, id);
  await tx.selectFrom('imports').select('id').where('id', '=', id).modifyEnd(forNoKeyUpdate(tx)).execute();
  return readImport(tx, caller, id);
}
