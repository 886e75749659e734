import { sql, type SqlBool } from 'kysely';
import type { Attribution, Caller } from '../../auth/callers.ts';
import { ASSET_WRITE_SCOPES, type Scope } from '../../auth/scopes.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { recordEvent } from '../audit/record-event.ts';
import { releaseContents } from '../shared/files.ts';
import { lockJobKind, type Job, type TakeJob } from '../shared/jobs.ts';
import type { ImportJob, ImportOptions, ImportOutcome } from './import-types.ts';
import type { ImportUndone, ImportProgress } from './import-list.ts';

/** What imports and their undoing are called in the queue. */
export const IMPORT_JOB = 'import';

const KEY_PREFIX = 'import:';

/** Of an import there is one job at a time: it, or what undoes it. */
export function importJobKey(id: number): string {
  return KEY_PREFIX + String(id);
}

/** Who imports, as the row keeps it: with what they reached when they started it. */
export function serializeCaller(caller: Caller): string {
  return JSON.stringify({ ...caller, scopes: [...caller.scopes] });
}

export function deserializeCaller(text: string): Caller {
  const kept = JSON.parse(text) as Caller & { scopes: Scope[] };
  return { ...kept, scopes: new Set(kept.scopes) };
}

/** @returns whether an import runs, in whichever instance */
export async function isImportRunning(read: ReadConnection): Promise<boolean> {
  const held = read
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', IMPORT_JOB)
    .where('holder', 'is not', null);
  return (await held.limit(1).execute()).length > 0;
}

/** The id of the import that a job is about. */
const importIdOf = (jobs: string) =>
  sql<number>`cast(substr(${sql.ref(`${jobs}.key`)}, ${sql.lit(KEY_PREFIX.length + 1)}) as bigint)`;

/**
 * Takes the next import: at most so many run at once whatever the instance, one an assessment and without one on an
 * organization, and organizations take turns, the one that was served longest ago first.
 */
export const claimNextImport =
  (atOnce: number): TakeJob =>
  async (tx, { holder, now, until }): Promise<Job | undefined> => {
    await lockJobKind(tx, IMPORT_JOB);
    const { running } = await tx
      .selectFrom('jobs')
      .select(({ fn }) => fn.countAll<number>().as('running'))
      .where('kind', '=', IMPORT_JOB)
      .where('due_at', '>', now)
      .where('holder', 'is not', null)
      .executeTakeFirstOrThrow();
    if (running >= atOnce) return undefined;
    const isTaken = sql<SqlBool>`exists (
      select 1 from jobs as other join imports as theirs on theirs.id = ${importIdOf('other')}
      where other.kind = ${IMPORT_JOB} and other.holder is not null and other.due_at > ${now}
        and theirs.organization_id = imports.organization_id
        and coalesce(theirs.assessment_id, 0) = coalesce(imports.assessment_id, 0))`;
    const lastServed = sql`(select max(earlier.started_at) from imports as earlier
      where earlier.organization_id = imports.organization_id)`;
    const next = await tx
      .selectFrom('jobs')
      .innerJoin('imports', (join) => join.on('imports.id', '=', importIdOf('jobs')))
      .select('jobs.id')
      .where('jobs.kind', '=', IMPORT_JOB)
      .where('jobs.due_at', '<=', now)
      .where(sql<SqlBool>`not ${isTaken}`)
      .orderBy(lastServed, (order) => order.asc().nullsFirst())
      .orderBy('jobs.id')
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return undefined;
    return tx
      .updateTable('jobs')
      .set((eb) => ({ holder, due_at: until, attempts: eb('attempts', '+', 1) }))
      .where('id', '=', next.id)
      .where('due_at', '<=', now)
      .returning(['id', 'kind', 'payload', 'attempts'])
      .executeTakeFirst();
  };

/** An import that is to run, and where its file is. */
export interface RunnableImport extends ImportJob {
  format: string;
  /** Bytes of the file. */
  size: number;
  /** In the store. */
  contentKey: string;
  isCancelled: boolean;
}

/**
 * Says that an import runs.
 * @returns nothing when it has ended: a process may die between that and the end of its job
 */
export async function startRun(
  tx: Transaction,
  id: number,
  now: number,
): Promise<RunnableImport | undefined> {
  const begun = await tx
    .updateTable('imports')
    .set((eb) => ({ state: 'running' as const, started_at: eb.fn.coalesce('started_at', eb.val(now)) }))
    .where('id', '=', id)
    .where('state', 'in', ['queued', 'running'])
    .returning([
      'organization_id',
      'assessment_id',
      'format',
      'size',
      'sha256',
      'blob_key',
      'options',
      'rights',
      'created_at',
      'cancel_requested',
    ])
    .executeTakeFirst();
  if (begun === undefined || begun.blob_key === null) return undefined;
  const assessment =
    begun.assessment_id === null
      ? null
      : await tx
          .selectFrom('assessments')
          .select(['id', 'uid'])
          .where('id', '=', begun.assessment_id)
          .executeTakeFirstOrThrow();
  const caller = deserializeCaller(begun.rights);
  return {
    id,
    organizationId: begun.organization_id,
    assessment,
    caller,
    canWriteAssets: ASSET_WRITE_SCOPES.some((scope) => caller.scopes.has(scope)),
    options: JSON.parse(begun.options) as ImportOptions,
    sha256: begun.sha256,
    createdAt: begun.created_at,
    format: begun.format,
    size: begun.size,
    contentKey: begun.blob_key,
    isCancelled: begun.cancel_requested === 1,
  };
}

/** Tells how far an import is that runs; whoever calls this does so at most twice a second. */
export async function saveProgress(tx: Transaction, id: number, progress: ImportProgress): Promise<void> {
  await tx
    .updateTable('imports')
    .set({ progress: JSON.stringify(progress) })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute();
}

/** @returns whether somebody has asked for the end of an import */
export async function isCancelRequested(db: ReadConnection, id: number): Promise<boolean> {
  const row = await db
    .selectFrom('imports')
    .select('cancel_requested')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.cancel_requested === 1;
}

/** How an import ended; what never began has counted nothing. */
export type FinishedRun = Pick<ImportOutcome, 'state' | 'error'> &
  Partial<Pick<ImportOutcome, 'result' | 'skips' | 'preview' | 'reportAt'>> & { progress?: ImportProgress };

/**
 * Writes down how an import ended; its file is nobody's then, and its job is out of the queue.
 * @returns the content that nobody needs any more; nothing where it had ended before
 */
export async function finishRun(
  tx: Transaction,
  id: number,
  now: number,
  end: FinishedRun,
): Promise<string[]> {
  const { state, result, skips, preview, error, progress, reportAt } = end;
  const row = await tx
    .selectFrom('imports')
    .select(['organization_id', 'blob_key', 'rights'])
    .where('id', '=', id)
    .where('state', 'in', ['queued', 'running'])
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirst();
  if (row === undefined) return [];
  await tx
    .updateTable('imports')
    .set({
      state,
      blob_key: null,
      finished_at: now,
      result: result === undefined ? null : JSON.stringify(result),
      preview: preview === undefined || preview === null ? null : JSON.stringify(preview),
      error: error === null ? null : JSON.stringify(error),
      ...(reportAt === undefined ? {} : { report_at: reportAt }),
      ...(skips === undefined ? {} : { skips: JSON.stringify(skips) }),
      ...(progress === undefined ? {} : { progress: JSON.stringify(progress) }),
    })
    .where('id', '=', id)
    .execute();
  // Whoever reads that it has ended may undo it at once, by a job of the same key.
  await tx.deleteFrom('jobs').where('key', '=', importJobKey(id)).execute();
  const unused = row.blob_key === null ? [] : [row.blob_key];
  await releaseContents(tx, unused);
  await recordEvent(
    tx,
    { actor: deserializeCaller(row.rights), now },
    {
      action: 'import.end',
      object: ['import', id],
      organizationId: row.organization_id,
      before: null,
      after: { state, ...(result === undefined ? {} : { result }), ...(error === null ? {} : { error }) },
    },
  );
  return unused;
}

/** Writes down what an undo has done. */
export async function finishUndo(
  tx: Transaction,
  { actor, now }: Attribution<Caller>,
  id: number,
  counts: Omit<ImportUndone, 'at'>,
): Promise<void> {
  const undone: ImportUndone = { at: now, ...counts };
  const row = await tx
    .updateTable('imports')
    .set({ undone: JSON.stringify(undone) })
    .where('id', '=', id)
    .where('undone', 'is', null)
    .returning('organization_id')
    .executeTakeFirst();
  if (row === undefined) return;
  await recordEvent(
    tx,
    { actor, now },
    {
      action: 'import.undo',
      object: ['import', id],
      organizationId: row.organization_id,
      before: null,
      after: counts,
    },
  );
}
