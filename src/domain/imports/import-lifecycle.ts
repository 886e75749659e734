import { sql, type SqlBool } from 'kysely';
import type { ChangeContext, Caller } from '../../auth/callers.ts';
import type { Scope } from '../../auth/scopes.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { recordEvent } from '../audit/record-event.ts';
import { isPermitted, loadCallerRoles } from '../shared/permissions.ts';
import { releaseBlobs } from '../shared/files.ts';
import { addJob, lockJobKind, type Job, type TakeJob } from '../shared/jobs.ts';
import {
  type ImportJob,
  type ImportOptions,
  type ImportOutcome,
  withoutFindingCounts,
} from './import-types.ts';
import type { ImportUndone, ImportProgress } from './import-list.ts';
import { currentRights, findLostPermission, importAssetScopes } from './import-permissions.ts';

export const IMPORT_JOB = 'import';

/** Adds the findings of an ended import to the search index. */
export const INDEX_ENDED_IMPORTS_JOB = 'index-ended-imports';

const KEY_PREFIX = 'import:';

/** An import has one job at a time: its run or its undo. */
export function importJobKey(id: number): string {
  return KEY_PREFIX + String(id);
}

/** Returns the caller of a job with their rights as JSON. */
export function serializeCaller(caller: Caller): string {
  return JSON.stringify({ ...caller, scopes: [...caller.scopes] });
}

export function deserializeCaller(text: string): Caller {
  const stored = JSON.parse(text) as Caller & { scopes: Scope[] };
  return { ...stored, scopes: new Set(stored.scopes) };
}

/**
 * @param now milliseconds since 1970
 * @returns whether any instance is running an import or undo. A job with an expired lease is not running
 */
export async function isImportRunning(read: ReadConnection, now: number): Promise<boolean> {
  const runningJobs = read
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', IMPORT_JOB)
    .where('run_at', '>', now)
    .where('locked_by', 'is not', null);
  return (await runningJobs.limit(1).execute()).length > 0;
}

/** The id of a job's import. */
const importIdOf = (jobs: string) =>
  sql<number>`cast(substr(${sql.ref(`${jobs}.key`)}, ${sql.lit(KEY_PREFIX.length + 1)}) as bigint)`;

/**
 * Claims the next queued import or undo: at most `atOnce` run across all instances, and one per assessment (or per
 * organization, for imports without one). The organization with the fewest running imports comes first; of several, the
 * one served longest ago. Within it, the oldest job does.
 */
export const claimNextImport =
  (atOnce: number): TakeJob =>
  async (tx, { holder, now, until }): Promise<Job | undefined> => {
    await lockJobKind(tx, IMPORT_JOB);
    const { count } = await tx
      .selectFrom('jobs')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('kind', '=', IMPORT_JOB)
      .where('run_at', '>', now)
      .where('locked_by', 'is not', null)
      .executeTakeFirstOrThrow();
    if (count >= atOnce) return undefined;
    const target = sql<number>`coalesce(imports.assessment_id, 0)`;
    const jobs = tx
      .selectFrom('jobs')
      .innerJoin('imports', (join) => join.on('imports.id', '=', importIdOf('jobs')))
      .select('imports.organization_id')
      .where('jobs.kind', '=', IMPORT_JOB);
    const next = await tx
      .with(
        (cte) => cte('running').materialized(),
        () => jobs.select(target.as('target')).where('run_at', '>', now).where('locked_by', 'is not', null),
      )
      // One row per organization, so that ordering costs the same however many jobs it has.
      .with(
        (cte) => cte('waiting').materialized(),
        () =>
          jobs
            .select(({ fn }) => fn.min('jobs.id').as('id'))
            .where('run_at', '<=', now)
            .where(
              sql<SqlBool>`not exists (select 1 from running
                where running.organization_id = imports.organization_id and running.target = ${target})`,
            )
            .groupBy('imports.organization_id'),
      )
      .selectFrom('waiting')
      .leftJoin('last_import_starts', 'last_import_starts.organization_id', 'waiting.organization_id')
      .select(['waiting.id', 'waiting.organization_id'])
      .orderBy(sql`(select count(*) from running where running.organization_id = waiting.organization_id)`)
      .orderBy('last_import_starts.started_at', (order) => order.asc().nullsFirst())
      .orderBy('waiting.id')
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return undefined;
    const claimed = await tx
      .updateTable('jobs')
      .set((eb) => ({ locked_by: holder, run_at: until, attempts: eb('attempts', '+', 1) }))
      .where('id', '=', next.id)
      .where('run_at', '<=', now)
      .returning(['id', 'kind', 'payload', 'attempts'])
      .executeTakeFirst();
    if (claimed === undefined) return undefined;
    await tx
      .insertInto('last_import_starts')
      .values({ organization_id: next.organization_id, started_at: now })
      .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ started_at: now }))
      .execute();
    return claimed;
  };

export interface RunnableImport extends ImportJob {
  format: string;
  /** Bytes of the uploaded file. */
  size: number;
  /** Key in the file store. */
  contentKey: string;
  isCancelled: boolean;
  /** Why it may no longer run, as a sentence. */
  lostPermission: string | undefined;
}

/**
 * Marks an import as running, with the rights that the account of its caller still has.
 * @returns `undefined` if it has already ended: a process can die between ending an import and deleting its job
 */
export async function startRun(
  tx: Transaction,
  id: number,
  now: number,
): Promise<RunnableImport | undefined> {
  const started = await tx
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
      'started_by_caller',
      'created_at',
      'cancel_requested',
    ])
    .executeTakeFirst();
  if (started === undefined || started.blob_key === null) return undefined;
  const assessment =
    started.assessment_id === null
      ? null
      : await tx
          .selectFrom('assessments')
          .select(['id', 'uid'])
          .where('id', '=', started.assessment_id)
          .executeTakeFirstOrThrow();
  const organizationId = started.organization_id;
  const stored = deserializeCaller(started.started_by_caller);
  const current = await currentRights(tx, stored);
  const caller = current ?? stored;
  const options = JSON.parse(started.options) as ImportOptions;
  const canReport =
    assessment !== null &&
    isPermitted(caller, organizationId, await loadCallerRoles(tx, caller, assessment.id), 'report');
  return {
    id,
    organizationId,
    assessment,
    caller,
    canWriteAssets: importAssetScopes(assessment !== null).some((scope) => caller.scopes.has(scope)),
    canReport,
    options,
    sha256: started.sha256,
    createdAt: started.created_at,
    format: started.format,
    size: started.size,
    contentKey: started.blob_key,
    isCancelled: started.cancel_requested === 1,
    lostPermission: await findLostPermission(tx, current, {
      organizationId,
      assessment,
      canReport,
      options,
    }),
  };
}

/** Stores the progress of a running import. Called at most twice a second. */
export async function saveProgress(tx: Transaction, id: number, progress: ImportProgress): Promise<void> {
  await tx
    .updateTable('imports')
    .set({ progress: JSON.stringify(progress) })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute();
}

export async function isCancelRequested(db: ReadConnection, id: number): Promise<boolean> {
  const row = await db
    .selectFrom('imports')
    .select('cancel_requested')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.cancel_requested === 1;
}

/** How an import ended. One that never ran has no counts. */
export type FinishedRun = Pick<ImportOutcome, 'state' | 'error'> &
  Partial<Pick<ImportOutcome, 'result' | 'skips' | 'preview' | 'reportAt'>> & { progress?: ImportProgress };

async function queueIndexing(tx: Transaction, now: number): Promise<void> {
  const [queued] = await tx.selectFrom('search_index_queue').select('first_id').limit(1).execute();
  if (queued !== undefined) await addJob(tx, INDEX_ENDED_IMPORTS_JOB, null, now);
}

/**
 * Stores how an import ended, releases its file and deletes its job.
 * @returns the content keys that are no longer used; empty if it had already ended
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
    .select([
      'organization_id',
      'assessment_id',
      'blob_key',
      'started_by_caller',
      'by_staff',
      'hides_findings',
    ])
    .where('id', '=', id)
    .where('state', 'in', ['queued', 'running'])
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirst();
  if (row === undefined) return [];
  const hidesFindings = row.hides_findings === 1 || (row.by_staff === 1 && (await hasDrafts(tx, row)));
  await tx
    .updateTable('imports')
    .set({
      state,
      hides_findings: hidesFindings ? 1 : 0,
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
  // A client that sees the end may request an undo at once, under the same job key.
  await tx.deleteFrom('jobs').where('key', '=', importJobKey(id)).execute();
  await queueIndexing(tx, now);
  const unused = row.blob_key === null ? [] : [row.blob_key];
  await releaseBlobs(tx, unused);
  const shownResult = result && hidesFindings ? withoutFindingCounts(result) : result;
  await recordEvent(
    tx,
    { actor: deserializeCaller(row.started_by_caller), now },
    {
      action: 'import.end',
      object: ['import', id],
      organizationId: row.organization_id,
      before: null,
      after: {
        state,
        ...(shownResult === undefined ? {} : { result: shownResult }),
        ...(error === null ? {} : { error }),
      },
    },
  );
  return unused;
}

/** Whether an import can have found drafts. Its counts of findings are then for staff only, as they would reveal them. */
async function hasDrafts(
  db: ReadConnection,
  { assessment_id: assessmentId }: { assessment_id: number | null },
): Promise<boolean> {
  if (assessmentId === null) return false;
  const drafts = db
    .selectFrom('vulnerabilities')
    .select('id')
    .where('assessment_id', '=', assessmentId)
    .where(sql<SqlBool>`draft = 1`);
  return (await drafts.limit(1).execute()).length > 0;
}

/** Stores the result of an undo. */
export async function finishUndo(
  tx: Transaction,
  { actor, now }: ChangeContext<Caller>,
  id: number,
  counts: Omit<ImportUndone, 'at'>,
): Promise<void> {
  const undoResult: ImportUndone = { at: now, ...counts };
  const row = await tx
    .updateTable('imports')
    .set({ undone: JSON.stringify(undoResult) })
    .where('id', '=', id)
    .where('undone', 'is', null)
    .returning(['organization_id', 'hides_findings'])
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
      after: row.hides_findings === 1 ? { assets: counts.assets } : counts,
    },
  );
}
