import { EventEmitter } from 'node:events';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';

/** Work that outlives its request and survives a restart. */
export interface Job {
  id: number;
  kind: string;
  /** JSON. */
  payload: string;
  /** The number of attempts that count, this one included. */
  attempts: number;
}

/** Takes a job of a kind. @returns nothing when none is available */
export type TakeJob = (
  tx: Transaction,
  by: { holder: string; now: number; until: number },
) => Promise<Job | undefined>;

/** Limits how many jobs of a kind can be queued, where unauthenticated requests can queue them. */
export interface JobLimit {
  /** Jobs with the same key count together. */
  quotaKey: string;
  perQuotaKey: number;
  total: number;
}

/** Notifies the runner of this process of new jobs, so that it does not wait for its next poll. */
export class JobNotifier extends EventEmitter<{ added: [] }> {
  notify(): void {
    this.emit('added');
  }
}

/**
 * Queues a job in the caller's transaction. Jobs run at least once: after a crash they start again.
 * @param payload stored as JSON; must not contain a secret
 * @param key a unique key: no second job with it is queued
 * @returns whether it was queued; false when the limit is reached or the key exists
 */
export async function addJob(
  tx: Transaction,
  kind: string,
  payload: unknown,
  now: number,
  limit?: JobLimit,
  key: string | null = null,
): Promise<boolean> {
  if (limit !== undefined && !(await lockAndCheckCapacity(tx, kind, limit))) return false;
  const added = await tx
    .insertInto('jobs')
    .values({
      kind,
      key,
      quota_key: limit?.quotaKey ?? null,
      payload: JSON.stringify(payload),
      attempts: 0,
      run_at: now,
      locked_by: null,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}

/** Queues the recurring job of a kind unless it exists. */
export async function ensureRecurringJob(tx: Transaction, kind: string, now: number): Promise<void> {
  await tx
    .insertInto('jobs')
    .values({
      kind,
      key: kind,
      quota_key: null,
      payload: 'null',
      attempts: 0,
      run_at: now,
      locked_by: null,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
}

/** Serializes transactions that count the jobs of a kind. */
export async function lockJobKind(tx: Transaction, kind: string): Promise<void> {
  await tx
    .insertInto('job_queues')
    .values({ kind })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await tx
    .selectFrom('job_queues')
    .select('kind')
    .where('kind', '=', kind)
    .modifyEnd(forNoKeyUpdate(tx))
    .execute();
}

async function lockAndCheckCapacity(tx: Transaction, kind: string, limit: JobLimit): Promise<boolean> {
  await lockJobKind(tx, kind);
  const { inAll, withQuotaKey } = await tx
    .selectFrom('jobs')
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('inAll'),
      fn.count<number>(eb.case().when('quota_key', '=', limit.quotaKey).then(1).end()).as('withQuotaKey'),
    ])
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow();
  return inAll < limit.total && withQuotaKey < limit.perQuotaKey;
}

const selectDueKinds = prepareQuery<{ now: number }, { kind: string }>((db, p) =>
  db.selectFrom('jobs').select('kind').distinct().where('run_at', '<=', p.now),
);

/** @returns the kinds with jobs that are due */
export async function findDueKinds(db: ReadConnection, now: number): Promise<string[]> {
  return (await selectDueKinds(db, { now })).map(({ kind }) => kind);
}

/**
 * Takes the job of a kind that has been due the longest.
 * @param holder the process that takes it
 * @param until when its lease ends unless it is extended
 */
export async function takeJob(
  tx: Transaction,
  kind: string,
  holder: string,
  now: number,
  until: number,
): Promise<Job | undefined> {
  const dueJobId = tx
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', kind)
    .where('run_at', '<=', now)
    .orderBy('run_at')
    .orderBy('id')
    .limit(1);
  return (
    tx
      .updateTable('jobs')
      .set((eb) => ({ locked_by: holder, run_at: until, attempts: eb('attempts', '+', 1) }))
      .where('id', '=', dueJobId)
      // Repeated on the row itself, because another instance may have taken the job while this one waited for the lock.
      .where('run_at', '<=', now)
      .returning(['id', 'kind', 'payload', 'attempts'])
      .executeTakeFirst()
  );
}

/** Extends the lease of a running job. @returns false when it was cancelled, or taken by another process */
export async function extendLease(
  tx: Transaction,
  { id }: Pick<Job, 'id'>,
  holder: string,
  until: number,
): Promise<boolean> {
  const extended = await tx
    .updateTable('jobs')
    .set({ run_at: until })
    .where('id', '=', id)
    .where('locked_by', '=', holder)
    .executeTakeFirst();
  return extended.numUpdatedRows > 0n;
}

export async function finishJob(tx: Transaction, { id }: Pick<Job, 'id'>, holder: string): Promise<void> {
  await tx.deleteFrom('jobs').where('id', '=', id).where('locked_by', '=', holder).execute();
}

/**
 * Returns a job to the queue.
 * @param attempts the number of attempts that count from now on
 */
export async function rescheduleJob(
  tx: Transaction,
  { id, attempts }: Pick<Job, 'id' | 'attempts'>,
  holder: string,
  dueAt: number,
): Promise<void> {
  await tx
    .updateTable('jobs')
    .set({ locked_by: null, run_at: dueAt, attempts })
    .where('id', '=', id)
    .where('locked_by', '=', holder)
    .execute();
}

/** @param payload stored as JSON; must not contain a secret */
export async function setJobPayload(tx: Transaction, key: string, payload: unknown): Promise<void> {
  await tx
    .updateTable('jobs')
    .set({ payload: JSON.stringify(payload) })
    .where('key', '=', key)
    .execute();
}

/** Deletes a queued or running job. A process that runs it stops at its next `extendLease`. */
export async function cancelJob(tx: Transaction, job: { id: number } | { key: string }): Promise<boolean> {
  const query = tx.deleteFrom('jobs');
  const cancelled = await (
    'id' in job ? query.where('id', '=', job.id) : query.where('key', '=', job.key)
  ).executeTakeFirst();
  return cancelled.numDeletedRows > 0n;
}

/**
 * Marks a job before its mail is sent, so that no later run of the job sends it again.
 * @returns false if an earlier run may have sent it, or another process has taken the job
 */
export async function markMailStarted(
  tx: Transaction,
  { id, attempts }: Pick<Job, 'id' | 'attempts'>,
  now: number,
): Promise<boolean> {
  const marked = await tx
    .updateTable('jobs')
    .set({ mail_started_at: now })
    .where('id', '=', id)
    // Another process that takes the job counts an attempt.
    .where('attempts', '=', attempts)
    .where('mail_started_at', 'is', null)
    .executeTakeFirst();
  return marked.numUpdatedRows > 0n;
}

/** Removes the mark, because the mail server has not accepted the mail. */
export async function clearMailStarted(tx: Transaction, { id }: Pick<Job, 'id'>): Promise<void> {
  await tx.updateTable('jobs').set({ mail_started_at: null }).where('id', '=', id).execute();
}
