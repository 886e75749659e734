import type { Transaction } from '../../db/database.ts';

/** The attempted action, and its source. */
export interface AttemptKey {
  /** The action and its target. Typed values are hashed, as people type passwords into any field. */
  subject: string;
  /** Empty to count all addresses together. */
  address: string;
}

export interface AttemptLimit {
  max: number;
  /** Milliseconds. The last attempt locks for as long. */
  window: number;
}

/** Subjects with a row of their own for an address. Further subjects share one row. */
const MAX_SUBJECTS = 100;

export type AttemptResult =
  /** @property count attempts within the window, this one included */
  | { outcome: 'counted'; count: number }
  /** @property retryAfter seconds */
  | { outcome: 'locked'; retryAfter: number };

/**
 * Records an attempt before it is made, so that concurrent attempts cannot exceed the limit. Proceed only on
 * `counted`. The window slides; attempts during a lock are not counted and do not prolong it.
 */
export async function recordAttempt(
  tx: Transaction,
  key: AttemptKey,
  { max, window }: AttemptLimit,
  now: number,
): Promise<AttemptResult> {
  const row = await lockRow(tx, key, now + window);
  if (row.locked_until > now) return { outcome: 'locked', retryAfter: secondsUntil(row.locked_until, now) };
  const times = [...(JSON.parse(row.times) as number[]).filter((time) => time > now - window), now];
  await tx
    .updateTable('throttled_attempts')
    .set({
      times: JSON.stringify(times),
      locked_until: times.length >= max ? now + window : 0,
      ends_at: now + window,
    })
    .where('subject', '=', key.subject)
    .where('address', '=', key.address)
    .execute();
  return { outcome: 'counted', count: times.length };
}

/**
 * Locks the attempts of a key until the transaction ends, for an action that records only some of its outcomes.
 * @returns seconds until the next attempt; `undefined` if one may be made now
 */
export async function lockAttempts(
  tx: Transaction,
  key: AttemptKey,
  { window }: AttemptLimit,
  now: number,
): Promise<number | undefined> {
  const { locked_until } = await lockRow(tx, key, now + window);
  return locked_until > now ? secondsUntil(locked_until, now) : undefined;
}

function lockRow(tx: Transaction, key: AttemptKey, endsAt: number) {
  return tx
    .insertInto('throttled_attempts')
    .values({ ...key, times: '[]', locked_until: 0, ends_at: endsAt })
    .onConflict((conflict) =>
      conflict
        .columns(['subject', 'address'])
        .doUpdateSet((eb) => ({ ends_at: eb.ref('throttled_attempts.ends_at') })),
    )
    .returning(['times', 'locked_until'])
    .executeTakeFirstOrThrow();
}

const secondsUntil = (time: number, now: number) => Math.ceil((time - now) / 1000);

/**
 * Bounds the rows that one address can create: beyond the limit its attempts share a subject.
 * @param shared the subject of further attempts
 * @returns the key to count the attempt under
 */
export async function throttleKey(
  tx: Transaction,
  key: AttemptKey,
  shared: string,
  now: number,
): Promise<AttemptKey> {
  const rows = await tx
    .selectFrom('throttled_attempts')
    .select('subject')
    .where('address', '=', key.address)
    .where('ends_at', '>', now)
    .limit(MAX_SUBJECTS)
    .execute();
  if (rows.length < MAX_SUBJECTS) return key;
  const existing = await tx
    .selectFrom('throttled_attempts')
    .select('subject')
    .where('subject', '=', key.subject)
    .where('address', '=', key.address)
    .executeTakeFirst();
  return existing === undefined ? { subject: shared, address: key.address } : key;
}

/**
 * Takes back an attempt that succeeded or was not made, with the lock that it may have set. Other attempts still count.
 * @param recordedAt milliseconds since 1970
 */
export async function withdrawAttempt(tx: Transaction, key: AttemptKey, recordedAt: number): Promise<void> {
  // Locks the row until the transaction ends.
  const row = await tx
    .updateTable('throttled_attempts')
    .set((eb) => ({ ends_at: eb.ref('ends_at') }))
    .where('subject', '=', key.subject)
    .where('address', '=', key.address)
    .returning('times')
    .executeTakeFirst();
  if (row === undefined) return;
  const times = JSON.parse(row.times) as number[];
  const index = times.indexOf(recordedAt);
  if (index === -1) return;
  await tx
    .updateTable('throttled_attempts')
    .set({ times: JSON.stringify(times.toSpliced(index, 1)), locked_until: 0 })
    .where('subject', '=', key.subject)
    .where('address', '=', key.address)
    .execute();
}

export async function clearAttempts(tx: Transaction, key: AttemptKey): Promise<void> {
  await tx
    .deleteFrom('throttled_attempts')
    .where('subject', '=', key.subject)
    .where('address', '=', key.address)
    .execute();
}

export async function clearAllAttempts(tx: Transaction, subject: string): Promise<void> {
  await tx.deleteFrom('throttled_attempts').where('subject', '=', subject).execute();
}
