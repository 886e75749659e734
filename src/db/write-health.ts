import { type Database, Unavailable, WriteConflict } from './engine.ts';

/** The least time between two writes that only find out whether writes succeed again, in milliseconds. */
const BETWEEN_TRIES = 5_000;
/** PostgreSQL: a statement, or its wait for a lock, took too long. Others succeed meanwhile. */
const SLOW = ['57014', '55P03'];

/**
 * The same database, whose `check` also says that writes fail: from the first one that fails for want of room or of a
 * database until one succeeds. Nothing may write while nobody is sent here, so `check` tries one itself now and then.
 */
export function watchWrites(db: Database): Database {
  let failing = false;
  let nextTry = 0;
  const write: Database['write'] = async (unit) => {
    try {
      const value = await db.write(unit);
      failing = false;
      return value;
    } catch (error) {
      if (isForWantOfDatabase(error)) failing = true;
      throw error;
    }
  };
  return {
    ...db,
    write,
    async check(now) {
      await db.check(now);
      if (!failing) return;
      if (now < nextTry) throw new Unavailable('Writes fail.');
      nextTry = now + BETWEEN_TRIES;
      await write((tx) =>
        tx
          .updateTable('credential_changes')
          .set((eb) => ({ changes: eb.ref('changes') }))
          .execute(),
      );
    },
  };
}

function isForWantOfDatabase(error: unknown): boolean {
  if (!(error instanceof Unavailable) || error instanceof WriteConflict) return false;
  const { cause } = error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return !SLOW.includes(code);
}
