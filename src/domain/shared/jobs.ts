import { EventEmitter } from 'node:events';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';

/** Work that outlives the request that asked for it, and the process that began it. */
export interface Job {
  id: number;
  kind: string;
  /** What it is about, as JSON. */
  payload: string;
  /** How often it was taken, this time included. */
  attempts: number;
}

/** Takes a job of a kind. @returns nothing when none may be taken now */
export type TakeJob = (
  tx: Transaction,
  by: { holder: string; now: number; until: number },
) => Promise<Job | undefined>;

/** How many of a kind may wait at once, where strangers can ask for it. */
export interface JobLimit {
  /** Who asks; jobs of the same origin count together. */
  quotaKey: string;
  perQuotaKey: number;
  total: number;
}

/** Tells the runner of this process that there is work, so that it need not wait until it looks again. */
export class JobNotifier extends EventEmitter<{ added: [] }> {
  notify(): void {
    this.emit('added');
  }
}

/**
 * Adds work to the unit of work that asks for it. It is done at least once: after a crash, it begins again.
 * @param payload becomes JSON; it holds no secret
 * @param limit of what may wait
 * @param key of which there is one alone
 * @returns whether it was added; not when too many wait, or there is one of the key
 */
export async function addJob(
  tx: Transaction,
  kind: string,
  payload: unknown,
  now: number,
  limit?: JobLimit,
  key: string | null = null,
): Promise<boolean> {
  if (limit !== undefined && !(await hasCapacity(tx, kind, limit))) return false;
  const added = await tx
    .insertInto('jobs')
    .values({
      kind,
      key,
      origin: limit?.quotaKey ?? null,
      payload: JSON.stringify(payload),
      attempts: 0,
      due_at: now,
      holder: null,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}

/** Sees to it that there is the one job of a kind that always comes back. */
export async function ensureRecurringJob(tx: Transaction, kind: string, now: number): Promise<void> {
  await tx
    .insertInto('jobs')
    .values({
      kind,
      key: kind,
      origin: null,
      payload: 'null',
      attempts: 0,
      due_at: now,
      holder: null,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
}

/** Keeps others who count jobs of the kind out until this unit of work is done; then they see what it has changed. */
export async function lockJobKind(tx: Transaction, kind: string): Promise<void> {
  await tx
    .insertInto('job_kinds')
    .values({ kind })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await tx
    .selectFrom('job_kinds')
    .select('kind')
    .where('kind', '=', kind)
    .modifyEnd(forNoKeyUpdate(tx))
    .execute();
}

async function hasCapacity(tx: Transaction, kind: string, limit: JobLimit): Promise<boolean> {
  await lockJobKind(tx, kind);
  const { inAll, ofOrigin } = await tx
    .selectFrom('jobs')
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('inAll'),
      fn.count<number>(eb.case().when('origin', '=', limit.quotaKey).then(1).end()).as('ofOrigin'),
    ])
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow();
  return inAll < limit.total && ofOrigin < limit.perQuotaKey;
}

const selectDueKinds = prepareQuery<{ now: number }, { kind: string }>((db, p) =>
  db.selectFrom('jobs').select('kind').distinct().where('due_at', '<=', p.now),
);

/** @returns the kinds of which something is to be done now */
export async function findDueKinds(db: ReadConnection, now: number): Promise<string[]> {
  return (await selectDueKinds(db, { now })).map(({ kind }) => kind);
}

/**
 * Takes the job of a kind that has waited longest.
 * @param holder who takes it
 * @param until when it is theirs, unless they keep it; then whoever comes may take it
 */
export async function takeJob(
  tx: Transaction,
  kind: string,
  holder: string,
  now: number,
  until: number,
): Promise<Job | undefined> {
  const isDue = tx
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', kind)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(1);
  return (
    tx
      .updateTable('jobs')
      .set((eb) => ({ holder, due_at: until, attempts: eb('attempts', '+', 1) }))
      .where('id', '=', isDue)
      // Asked again of the row itself: another instance may have taken it while this one waited for it.
      .where('due_at', '<=', now)
      .returning(['id', 'kind', 'payload', 'attempts'])
      .executeTakeFirst()
  );
}

/** Keeps a job that takes long. @returns whether it is still theirs: it is not when it was cancelled, or taken by another */
export async function extendLease(
  tx: Transaction,
  { id }: Pick<Job, 'id'>,
  holder: string,
  until: number,
): Promise<boolean> {
  const kept = await tx
    .updateTable('jobs')
    .set({ due_at: until })
    .where('id', '=', id)
    .where('holder', '=', holder)
    .executeTakeFirst();
  return kept.numUpdatedRows > 0n;
}

/** Deletes a job that is done. */
export async function finishJob(tx: Transaction, { id }: Pick<Job, 'id'>, holder: string): Promise<void> {
  await tx.deleteFrom('jobs').where('id', '=', id).where('holder', '=', holder).execute();
}

/**
 * Gives a job back, to be done at another time, by anyone.
 * @param attempts how often it counts as taken from now on
 */
export async function rescheduleJob(
  tx: Transaction,
  { id, attempts }: Pick<Job, 'id' | 'attempts'>,
  holder: string,
  dueAt: number,
): Promise<void> {
  await tx
    .updateTable('jobs')
    .set({ holder: null, due_at: dueAt, attempts })
    .where('id', '=', id)
    .where('holder', '=', holder)
    .execute();
}

/** Deletes a job whether it waits or runs; whoever has it is told to stop when they next keep it. */
export async function cancelJob(tx: Transaction, { id }: Pick<Job, 'id'>): Promise<boolean> {
  const cancelled = await tx.deleteFrom('jobs').where('id', '=', id).executeTakeFirst();
  return cancelled.numDeletedRows > 0n;
}
