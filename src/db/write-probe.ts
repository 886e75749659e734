import { randomBytes } from 'node:crypto';
import { type Database, StorageError, type Transaction } from './database.ts';

/** The least milliseconds between two probes. */
const PROBE_INTERVAL = 5_000;
/**
 * Bytes: more than most requests write. Random, as an engine skips an unchanged row and compresses a compressible one.
 */
const PROBE_SIZE = 64 * 1024;
/** PostgreSQL: a statement, or its wait for a lock, timed out. Other writes may succeed. */
const TIMEOUT_CODES = ['57014', '55P03'];

/**
 * Makes `check` fail while writes fail, from the first write that fails because the disk is full or the database is
 * gone. A load balancer may send nothing to an instance that reports this, so `check` probes by a write of its own:
 * every few seconds, and after another write has succeeded.
 */
export function withWriteProbe(db: Database): Database {
  let failure: StorageError | undefined;
  let nextProbe = 0;
  const write: Database['write'] = async (transaction, options) => {
    try {
      const value = await db.write(transaction, options);
      // It may have written nothing or little, so the next check probes.
      nextProbe = 0;
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
      if (now < nextProbe)
        throw new StorageError('unavailable', 'Writes to the database fail.', { cause: failure });
      nextProbe = now + PROBE_INTERVAL;
      // A nearly full disk accepts small writes, so the probe is large; clearing it proves that it can be repeated.
      await db.write((tx) => writeProbe(tx, randomBytes(PROBE_SIZE).toString('base64')));
      await db.write((tx) => writeProbe(tx, ''));
      failure = undefined;
    },
  };
}

async function writeProbe(tx: Transaction, payload: string): Promise<void> {
  await tx.updateTable('write_probes').set({ payload }).execute();
}

function isStorageFailure(error: unknown): error is StorageError {
  if (!(error instanceof StorageError) || error.code !== 'unavailable') return false;
  const { cause } = error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return !TIMEOUT_CODES.includes(code);
}
