import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import type { Context } from '../context.ts';
import type { JobHandler } from './runner.ts';
import { UNDO_WINDOW } from '../domain/vulnerabilities/bulk/undo.ts';
import { RESPONSE_TTL } from '../domain/shared/idempotency-keys.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** How long denied attempts stay in the audit log, unless changes stay there for less. */
const DENIED_ATTEMPT_DAYS = 90;
/** Never deleted: renewing the demo data reads it. */
const DEMO_LOAD_ACTION = 'demo.load';
/** Rows per transaction, so that other writers do not wait long. */
const BATCH_ROWS = 500;

export interface RetentionPeriods {
  /** Milliseconds without use after which a session ends. */
  sessionIdle: number;
  /** Days after which changes leave the audit log; `null` for never. */
  auditDays: number | null;
}

interface ExpiredRows {
  table: keyof Tables;
  /** The columns of the primary key. One of them alone may repeat, which would make batches larger. */
  key: readonly string[];
  /** An indexed column. Rows with a value up to `until` have expired; the lowest values are deleted first. */
  column: string;
  until: number | string;
  /** Restricts the rows further. */
  condition?: RawBuilder<unknown>;
}

/**
 * Deletes expired rows in small transactions. Authorization codes and refresh tokens are retained beyond their expiry,
 * to detect the late reuse of a stolen one; access tokens are retained for a day, as lists still show them.
 * @param isStopping checked between transactions
 * @returns the number of deleted rows, by table
 */
export async function deleteExpired(
  db: Database,
  periods: RetentionPeriods,
  now: number,
  isStopping: () => boolean = () => false,
): Promise<Partial<Record<keyof Tables, number>>> {
  const deleted: Partial<Record<keyof Tables, number>> = {};
  for (const expired of expiredRowsAt(now, periods)) {
    while (!isStopping()) {
      const rows = await deleteBatch(db, expired);
      if (rows === 0) break;
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

/** @returns the number of deleted rows: at most `BATCH_ROWS`, and 0 when none is left */
async function deleteBatch(
  db: Database,
  { table, key, column, until, condition = sql`1 = 1` }: ExpiredRows,
): Promise<number> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  const isExpired = sql`${sql.ref(column)} <= ${until} and ${condition}`;
  const batch = sql`select ${columns} from ${sql.table(table)} where ${isExpired}
    order by ${sql.ref(column)} limit ${BATCH_ROWS}`;
  // A read is cheaper than a transaction, and mostly there is nothing to do.
  if ((await batch.execute(db.read)).rows.length === 0) return 0;
  return db.write(async (tx) => {
    const statement = sql`delete from ${sql.table(table)} where ${isExpired} and (${columns}) in (${batch})`;
    return Number((await statement.execute(tx)).numAffectedRows ?? 0);
  });
}

/** Deletes expired rows, once an hour. */
export const deleteExpiredJob = ({ db, config, clock, log }: Context): JobHandler => ({
  kind: 'delete-expired',
  interval: HOUR,
  maxAttempts: 3,
  async run({ signal }) {
    const periods = { sessionIdle: config.sessionIdle, auditDays: config.auditDays };
    const deleted = await deleteExpired(db, periods, clock(), () => signal.aborted);
    if (Object.keys(deleted).length > 0) log.info({ removed: deleted }, 'deleted expired rows');
    signal.throwIfAborted();
  },
});
