import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/engine.ts';
import { inList } from '../db/dialect-sql.ts';
import type { Tables } from '../db/schema.ts';
import { UNDO_WINDOW } from '../domain/vulnerabilities/bulk/undo.ts';
import { SNAPSHOT_RETENTION } from '../domain/imports/finding-snapshots.ts';
import { RESPONSE_TTL } from '../domain/shared/idempotency-keys.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** How long refusals are kept, unless changes are kept for less. */
const DENIED_ATTEMPT_DAYS = 90;
/** What the demo data was made of, without which it could not be renewed. */
const DEMO_LOAD_ACTION = 'demo.load';
/** Rows deleted in one unit of work, so that others need not wait long. */
const BATCH_ROWS = 500;

/** How long things are kept. */
export interface RetentionPeriods {
  /** After how many milliseconds without use a session ends. */
  sessionIdle: number;
  /** After how many days a change leaves the audit log; `null` for never. */
  auditDays: number | null;
}

/** Rows that have ended. */
interface ExpiredRows {
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
 * @param isStopping asked between units of work; the rest waits for the next time
 * @returns how many rows are gone, by table
 */
export async function deleteExpired(
  db: Database,
  lifetimes: RetentionPeriods,
  now: number,
  isStopping: () => boolean = () => false,
): Promise<Partial<Record<keyof Tables, number>>> {
  const removed: Partial<Record<keyof Tables, number>> = {};
  for (const ended of expiredRowsAt(now, lifetimes)) {
    for (let rows = BATCH_ROWS; rows === BATCH_ROWS && !isStopping();) {
      rows = await deleteBatch(db, ended);
      if (rows > 0) removed[ended.table] = (removed[ended.table] ?? 0) + rows;
    }
  }
  const { auditDays } = lifetimes;
  const changes = auditDays === null ? 0 : await deleteOldAuditEvents(db, now - auditDays * DAY, isStopping);
  if (changes > 0) removed.events = (removed.events ?? 0) + changes;
  return removed;
}

function expiredRowsAt(now: number, { sessionIdle, auditDays }: RetentionPeriods): ExpiredRows[] {
  const refusalsBefore = now - Math.min(DENIED_ATTEMPT_DAYS, auditDays ?? DENIED_ATTEMPT_DAYS) * DAY;
  const past = (column: string, at: number) => sql`${sql.ref(column)} <= ${at}`;
  return [
    { table: 'sessions', key: 'id', condition: past('expires_at', now) },
    { table: 'sessions', key: 'id', condition: past('last_used_at', now - sessionIdle) },
    { table: 'attempts', key: 'subject', condition: past('ends_at', now) },
    { table: 'used_challenges', key: 'challenge_hash', condition: past('ends_at', now) },
    { table: 'password_resets', key: 'secret_hash', condition: past('expires_at', now) },
    { table: 'oauth_codes', key: 'code_hash', condition: past('expires_at', now - HOUR) },
    { table: 'refresh_tokens', key: 'id', condition: past('expires_at', now - 7 * DAY) },
    { table: 'tokens', key: 'id', condition: sql`kind = 'jwt' and ${past('expires_at', now - DAY)}` },
    { table: 'kept_answers', key: 'id', condition: past('kept_at', now - RESPONSE_TTL) },
    { table: 'import_changes', key: 'id', condition: past('changed_at', now - SNAPSHOT_RETENTION) },
    { table: 'bulk_changes', key: 'id', condition: past('changed_at', now - UNDO_WINDOW) },
    { table: 'refusal_minutes', key: 'minute', condition: past('minute', minuteOf(now - HOUR)) },
    // Their key begins with the minute, which has as many digits until the year 2160.
    {
      table: 'events',
      key: 'id',
      condition: sql`refusal is not null and refusal < ${String(minuteOf(refusalsBefore))}`,
    },
  ];
}

function minuteOf(time: number): number {
  return Math.floor(time / MINUTE);
}

/**
 * Deletes the events up to a time. They are looked at from the oldest on, as long as there are some to delete, so that
 * their time needs no index, which every change would have to pay for.
 */
async function deleteOldAuditEvents(db: Database, until: number, isStopping: () => boolean): Promise<number> {
  let removed = 0;
  let seen = 0;
  while (!isStopping()) {
    const rows = await db.read
      .selectFrom('events')
      .select(['id', 'at', 'action'])
      .where('id', '>', seen)
      .orderBy('id')
      .limit(BATCH_ROWS)
      .execute();
    const ids = rows
      .filter(({ at, action }) => at <= until && action !== DEMO_LOAD_ACTION)
      .map(({ id }) => id);
    if (ids.length === 0) break;
    await db.write((tx) =>
      tx
        .deleteFrom('events')
        .where((eb) => inList(tx, eb.ref('id'), ids))
        .execute(),
    );
    removed += ids.length;
    seen = rows.at(-1)?.id ?? seen;
  }
  return removed;
}

async function deleteBatch(db: Database, { table, key, condition }: ExpiredRows): Promise<number> {
  const some = sql`select ${sql.ref(key)} from ${sql.table(table)} where ${condition} limit ${BATCH_ROWS}`;
  // A look costs less than a unit of work, and mostly there is nothing.
  if ((await some.execute(db.read)).rows.length === 0) return 0;
  return db.write(async (tx) => {
    const statement = sql`delete from ${sql.table(table)} where ${condition} and ${sql.ref(key)} in (${some})`;
    return Number((await statement.execute(tx)).numAffectedRows ?? 0);
  });
}
