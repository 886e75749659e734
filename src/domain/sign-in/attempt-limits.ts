import type { Transaction } from '../../db/engine.ts';

/** What is tried, and from where. */
export interface AttemptKey {
  /** Names the thing and whom it is tried on, what people typed as a hash: they type passwords into any field. */
  subject: string;
  /** Empty where all addresses count together. */
  address: string;
}

export interface AttemptLimit {
  /** So many are let through. */
  max: number;
  /** Within so many milliseconds; the last of them locks for as long. */
  window: number;
}

/** So many subjects have a row of their own for an address; further ones share one. */
const MAX_SUBJECTS = 100;

export type AttemptResult =
  /** @property count of those within the window, this one included */
  | { outcome: 'counted'; count: number }
  /** @property retryAfter in seconds */
  | { outcome: 'locked'; retryAfter: number };

/**
 * Counts an attempt before it is made, so that many at once are no way around the limit: only who gets `counted` may go
 * on. The window slides; trying while it is locked is not counted, and does not prolong the lock.
 */
export async function recordAttempt(
  tx: Transaction,
  key: AttemptKey,
  { max, window }: AttemptLimit,
  now: number,
): Promise<AttemptResult> {
  // Whoever touches the row keeps others out until this unit of work is done.
  const row = await tx
    .insertInto('attempts')
    .values({ ...key, times: '[]', locked_until: 0, ends_at: now + window })
    .onConflict((conflict) =>
      conflict.columns(['subject', 'address']).doUpdateSet((eb) => ({ ends_at: eb.ref('attempts.ends_at') })),
    )
    .returning(['times', 'locked_until'])
    .executeTakeFirstOrThrow();
  if (row.locked_until > now)
    return { outcome: 'locked', retryAfter: Math.ceil((row.locked_until - now) / 1000) };
  const times = [...(JSON.parse(row.times) as number[]).filter((at) => at > now - window), now];
  await tx
    .updateTable('attempts')
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
 * Keeps strangers from making a row for whatever they name: whoever tries more subjects from one address than may have
 * a row of their own tries any.
 * @param shared the subject that the further ones are counted under
 * @returns the key to count the attempt under
 */
export async function boundedAttemptKey(
  tx: Transaction,
  key: AttemptKey,
  shared: string,
  now: number,
): Promise<AttemptKey> {
  const rows = await tx
    .selectFrom('attempts')
    .select('subject')
    .where('address', '=', key.address)
    .where('ends_at', '>', now)
    .limit(MAX_SUBJECTS)
    .execute();
  if (rows.length < MAX_SUBJECTS) return key;
  const own = await tx
    .selectFrom('attempts')
    .select('subject')
    .where('subject', '=', key.subject)
    .where('address', '=', key.address)
    .executeTakeFirst();
  return own === undefined ? { subject: shared, address: key.address } : key;
}

/** Forgets what was tried from this address. */
export async function clearAttempts(tx: Transaction, key: AttemptKey): Promise<void> {
  await tx
    .deleteFrom('attempts')
    .where('subject', '=', key.subject)
    .where('address', '=', key.address)
    .execute();
}

/** The same for every address. */
export async function clearAllAttempts(tx: Transaction, subject: string): Promise<void> {
  await tx.deleteFrom('attempts').where('subject', '=', subject).execute();
}
