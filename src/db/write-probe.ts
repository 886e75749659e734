import { randomBytes } from 'node:crypto';
import { Busy, type Database, type Transaction, Unavailable, WriteConflict } from './engine.ts';

/** The least time between two writes that only find out whether writes succeed again, in milliseconds. */
const BETWEEN_TRIES = 5_000;
/**
 * Bytes that such a write has: more than most requests. They are noise, as an engine writes nothing where a row stays the
 * same, and little where it can compress.
 */
const TRIAL_SIZE = 64 * 1024;
/** PostgreSQL: a statement, or its wait for a lock, took too long. Others succeed meanwhile. */
const SLOW = ['57014', '55P03'];

/**
 * The same database, whose `check` also says that writes fail: from the first one that fails for want of room or of a
 * database until one succeeds. Nothing may write while nobody is sent here, so `check` tries one itself now and then, and
 * when one of others did.
 */
export function watchWrites(db: Database): Database {
  /** Why the last write failed, if it did for want of room or of a database. */
  let failure: Unavailable | undefined;
  let nextTry = 0;
  const write: Database['write'] = async (unit, options) => {
    try {
      const value = await db.write(unit, options);
      // It may have changed nothing, or less than most do: the next check tries whether that is all there is room for.
      nextTry = 0;
      return value;
    } catch (error) {
      if (isForWantOfDatabase(error)) failure = error;
      throw error;
    }
  };
  return {
    ...db,
    write,
    async check(now) {
      await db.check(now);
      if (failure === undefined) return;
      if (now < nextTry) throw new Unavailable('Writes fail.', { cause: failure });
      nextTry = now + BETWEEN_TRIES;
      // Only together do they say that there is room: what is written must be more than what a full disk still takes.
      await db.write((tx) => keepNoise(tx, randomBytes(TRIAL_SIZE).toString('base64')));
      await db.write((tx) => keepNoise(tx, ''));
      failure = undefined;
    },
  };
}

async function keepNoise(tx: Transaction, noise: string): Promise<void> {
  await tx.updateTable('write_trials').set({ noise }).execute();
}

function isForWantOfDatabase(error: unknown): error is Unavailable {
  if (!(error instanceof Unavailable) || error instanceof WriteConflict || error instanceof Busy)
    return false;
  const { cause } = error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return !SLOW.includes(code);
}
