import { type RawBuilder, sql } from 'kysely';
import type { Database, Engine, Transaction } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import type { Context } from '../context.ts';
import type { JobHandler } from './runner.ts';
import { type Pause, writeAndPause } from './write-and-pause.ts';
import { UNDO_WINDOW } from '../domain/vulnerabilities/bulk/undo.ts';
import { RESPONSE_TTL } from '../domain/shared/idempotency-keys.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** How long denied attempts stay in the audit log, unless changes stay there for less. */
const DENIED_ATTEMPT_DAYS = 90;
/** Never deleted: renewing the demo data reads it. */
const DEMO_LOAD_ACTION = 'demo.load';
/** Rows per transaction. SQLite has one writer, and a statement blocks the event loop, so its transactions are smaller. */
const BATCH_ROWS: Readonly<Record<Engine, number>> = { sqlite: 250, postgres: 1_000 };

export interface RetentionPeriods {
  /** Milliseconds without use after which a session ends. */
  sessionIdle: number;
  /** Days after which changes leave the audit log; `null` for never. */
  auditDays: number | null;
}

type Value = number | string;

interface ExpiredRows {
  table: keyof Tables;
  /** The columns of the primary key. One of them alone may repeat, which would make batches larger. */
  key: readonly string[];
  /** An indexed column. Rows with a value up to `until` have expired; the lowest values are deleted first. */
  column: string;
  until: Value;
  /** Restricts the rows further. */
  condition?: RawBuilder<unknown>;
}

/**
 * Deletes expired rows in small transactions, with a pause after each. Authorization codes and refresh tokens are
 * retained beyond their expiry, to detect the late reuse of a stolen one; access tokens are retained for a day, as lists
 * still show them.
 * @param options `signal`: ends the deletion after the present transaction; `pause`: how to pause, for tests
 * @returns the number of deleted rows, by table
 */
export async function deleteExpired(
  db: Database,
  periods: RetentionPeriods,
  now: number,
  { signal = new AbortController().signal, pause }: { signal?: AbortSignal; pause?: Pause } = {},
): Promise<Partial<Record<keyof Tables, number>>> {
  const deleted: Partial<Record<keyof Tables, number>> = {};
  for (const expired of expiredRowsAt(now, periods)) {
    // Continues after the last batch: PostgreSQL reads over index entries of deleted rows until the next vacuum.
    let from: Value | undefined;
    while (!signal.aborted) {
      const next = await findLastOfBatch(db, expired, from);
      if (next === undefined) break;
      const rows = await writeAndPause(db, (tx) => deleteBatch(tx, expired, from), signal, pause);
      if (rows === 0) break;
      from = next;
      deleted[expired.table] = (deleted[expired.table] ?? 0) + rows;
    }
  }
  return deleted;
}

function expiredRowsAt(now: number, { sessionIdle, auditDays }: RetentionPeriods): ExpiredRows[] {
  const deniedBefore = now - Math.min(DENIED_ATTEMPT_DAYS, auditDays ?? DENIED_ATTEMPT_DAYS) * DAY;
  return [
    { table: 'sessions', key: ['id'], column: 'expires_at', until: now },
    { table: 'sessions', key: ['id'], column: 'last_used_at', until: now - sessionIdle },
    { table: 'throttled_attempts', key: ['subject', 'address'], column: 'ends_at', until: now },
    { table: 'used_challenges', key: ['challenge_hash'], column: 'ends_at', until: now },
    { table: 'password_resets', key: ['secret_hash'], column: 'expires_at', until: now },
    { table: 'authorization_codes', key: ['code_hash'], column: 'expires_at', until: now - HOUR },
    { table: 'refresh_tokens', key: ['id'], column: 'expires_at', until: now - 7 * DAY },
    { table: 'tokens', key: ['id'], column: 'expires_at', until: now - DAY, condition: sql`kind = 'jwt'` },
    { table: 'idempotency_keys', key: ['id'], column: 'created_at', until: now - RESPONSE_TTL },
    { table: 'bulk_changes', key: ['id'], column: 'changed_at', until: now - UNDO_WINDOW },
    { table: 'denied_attempt_minutes', key: ['minute'], column: 'minute', until: minuteOf(now - HOUR) },
    // A `denied_key` starts with the minute, so its text order is the order of time until 2160, when minutes get a
    // digit more.
    { table: 'audit_events', key: ['id'], column: 'denied_key', until: String(minuteOf(deniedBefore)) },
    // Deletes by time, not by id: an event may be recorded long after its time.
    ...(auditDays === null
      ? []
      : [
          {
            table: 'audit_events' as const,
            key: ['id'],
            column: 'at',
            until: now - auditDays * DAY,
            condition: sql`action <> ${DEMO_LOAD_ACTION}`,
          },
        ]),
  ];
}

function minuteOf(time: number): number {
  return Math.floor(time / MINUTE);
}

/** @returns the last value of the first batch of expired rows from a value on; `undefined` if there are none */
async function findLastOfBatch(db: Database, expired: ExpiredRows, from: Value | undefined) {
  // A read is cheaper than a transaction, and mostly there is nothing to do.
  const values = selectBatch(expired, from, sql`${sql.ref(expired.column)} as value`, BATCH_ROWS[db.engine]);
  const { rows } = await values.execute(db.read);
  return (rows as { value: Value }[]).at(-1)?.value;
}

/** @returns the number of deleted rows */
async function deleteBatch(tx: Transaction, expired: ExpiredRows, from: Value | undefined): Promise<number> {
  const columns = sql.join(expired.key.map((name) => sql.ref(name)));
  const statement = sql`delete from ${sql.table(expired.table)}
    where ${isExpired(expired)} and (${columns}) in (${selectBatch(expired, from, columns, BATCH_ROWS[tx.engine])})`;
  return Number((await statement.execute(tx)).numAffectedRows ?? 0);
}

function selectBatch(
  expired: ExpiredRows,
  from: Value | undefined,
  columns: RawBuilder<unknown>,
  limit: number,
) {
  const column = sql.ref(expired.column);
  const isLater = from === undefined ? sql`1 = 1` : sql`${column} >= ${from}`;
  return sql`select ${columns} from ${sql.table(expired.table)} where ${isExpired(expired)} and ${isLater}
    order by ${column} limit ${limit}`;
}

function isExpired({ column, until, condition = sql`1 = 1` }: ExpiredRows): RawBuilder<unknown> {
  return sql`${sql.ref(column)} <= ${until} and ${condition}`;
}

/** Deletes expired rows, once an hour. */
export const deleteExpiredJob = ({ db, config, clock, log }: Context): JobHandler => ({
  kind: 'delete-expired',
  interval: HOUR,
  maxAttempts: 3,
  async run({ signal }) {
    const periods = { sessionIdle: config.sessionIdle, auditDays: config.auditDays };
    const deleted = await deleteExpired(db, periods, clock(), { signal });
    if (Object.keys(deleted).length > 0) log.info({ removed: deleted }, 'deleted expired rows');
    signal.throwIfAborted();
  },
});
