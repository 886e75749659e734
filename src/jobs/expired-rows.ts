import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/engine.ts';
import type { Tables } from '../db/schema.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Rows deleted in one unit of work, so that others need not wait long. */
const ROWS_AT_ONCE = 500;

/** Rows that have ended. */
interface Ended {
  table: keyof Tables;
  /** The column that tells rows apart. */
  key: string;
  /** What holds for a row that may go. */
  condition: RawBuilder<unknown>;
}

/**
 * Deletes what has ended and is good for nothing any more, in small units of work. A code and a refresh token outlive
 * their time, so that somebody who has stolen one is found out also when they come late; so do the rows of access tokens,
 * which lists show for another day.
 * @param idle after how many milliseconds without use a session ends
 * @param isStopping asked between units of work; the rest waits for the next time
 * @returns how many rows are gone, by table
 */
export async function removeExpired(
  db: Database,
  { idle }: { idle: number },
  now: number,
  isStopping: () => boolean = () => false,
): Promise<Partial<Record<keyof Tables, number>>> {
  const removed: Partial<Record<keyof Tables, number>> = {};
  for (const ended of endedBy(now, idle)) {
    for (let rows = ROWS_AT_ONCE; rows === ROWS_AT_ONCE && !isStopping();) {
      rows = await removeSome(db, ended);
      if (rows > 0) removed[ended.table] = (removed[ended.table] ?? 0) + rows;
    }
  }
  return removed;
}

function endedBy(now: number, idle: number): Ended[] {
  const past = (column: string, at: number) => sql`${sql.ref(column)} <= ${at}`;
  return [
    { table: 'sessions', key: 'id', condition: past('expires_at', now) },
    { table: 'sessions', key: 'id', condition: past('last_used_at', now - idle) },
    { table: 'attempts', key: 'subject', condition: past('ends_at', now) },
    { table: 'used_challenges', key: 'challenge_hash', condition: past('ends_at', now) },
    { table: 'password_resets', key: 'secret_hash', condition: past('expires_at', now) },
    { table: 'oauth_codes', key: 'code_hash', condition: past('expires_at', now - HOUR) },
    { table: 'refresh_tokens', key: 'id', condition: past('expires_at', now - 7 * DAY) },
    { table: 'tokens', key: 'id', condition: sql`kind = 'jwt' and ${past('expires_at', now - DAY)}` },
  ];
}

async function removeSome(db: Database, { table, key, condition }: Ended): Promise<number> {
  const some = sql`select ${sql.ref(key)} from ${sql.table(table)} where ${condition} limit ${ROWS_AT_ONCE}`;
  // A look costs less than a unit of work, and mostly there is nothing.
  if ((await some.execute(db.read)).rows.length === 0) return 0;
  return db.write(async (tx) => {
    const statement = sql`delete from ${sql.table(table)} where ${condition} and ${sql.ref(key)} in (${some})`;
    return Number((await statement.execute(tx)).numAffectedRows ?? 0);
  });
}
