import { randomBytes } from 'node:crypto';
import { DatabaseBusy, type Database, type Transaction, StorageError, WriteConflict } from './engine.ts';

/** The least time between two writes that only find out whether writes succeed again, in milliseconds. */
const PROBE_INTERVAL = 5_000;
/**
 * Bytes that such a write has: more than most requests. They are noise, as an engine writes nothing where a row stays the
 * same, and little where it can compress.
 */
const PROBE_SIZE = 64 * 1024;
/** PostgreSQL: a statement, or its wait for a lock, took too long. Others succeed meanwhile. */
const TIMEOUT_CODES = ['57014', '55P03'];

/**
 * The same database, whose `check` also says that writes fail: from the first one that fails for want of room or of a
 * database until one succeeds. Nothing may write while nobody is sent here, so `check` tries one itself now and then, and
 * when one of others did.
 */
export function withWriteProbe(db: Database): Database {
  /** Why the last write failed, if it did for want of room or of a database. */
  let failure: StorageError | undefined;
  let nextTry = 0;
  const write: Database['write'] = async (unit, options) => {
    try {
      const value = await db.write(unit, options);
      // It may have changed nothing, or less than most do: the next check tries whether that is all there is room for.
      nextTry = 0;
      return value;
    } catch (error) {
      if (isStorageFailure(error)) failure = error;
      throw error;
    }
  };
  return {
    ...db,
    write,
    async check(now) {
      await db.check(now);
      if (failure === undefined) return;
      if (now < nextTry) throw new StorageError('Writes fail.', { cause: failure });
      nextTry = now + PROBE_INTERVAL;
      // Only together do they say that there is room: what is written must be more than what a full disk still takes.
      await db.write((tx) => writeProbe(tx, randomBytes(PROBE_SIZE).toString('base64')));
      await db.write((tx) => writeProbe(tx, ''));
      failure = undefined;
    },
  };
}

async function writeProbe(tx: Transaction, noise: string): Promise<void> {
  await tx.updateTable('write_trials').set({ noise }).execute();
}

function isStorageFailure(error: unknown): error is StorageError {
  if (!(error instanceof StorageError) || error instanceof WriteConflict || error instanceof DatabaseBusy)
    return false;
  const { cause } = error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return !TIMEOUT_CODES.includes(code);
}
