import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/engine.ts';
import { inList } from '../db/dialect-sql.ts';
import type { Tables } from '../db/schema.ts';
import type { Context } from '../runtime/context.ts';
import type { JobHandler } from './runner.ts';
import { UNDO_WINDOW } from '../domain/vulnerabilities/bulk/undo.ts';
import { SNAPSHOT_RETENTION } from '../domain/imports/finding-snapshots.ts';
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
  /** A unique column. */
  key: string;
  /** Selects the expired rows. */
  condition: RawBuilder<unknown>;
}

/**
 * Deletes expired rows in small transactions. Authorization codes and refresh tokens are kept beyond their expiry, to detect
 * the late reuse of a stolen one; access tokens are kept for a day, as lists still show them.
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
    for (let rows = BATCH_ROWS; rows === BATCH_ROWS && !isStopping();) {
      rows = await deleteBatch(db, expired);
      if (rows > 0) deleted[expired.table] = (deleted[expired.table] ?? 0) + rows;
    }
  }
  const { auditDays } = periods;
  const changes = auditDays === null ? 0 : await deleteOldAuditEvents(db, now - auditDays * DAY, isStopping);
  if (changes > 0) deleted.audit_events = (deleted.audit_events ?? 0) + changes;
  return deleted;
}

function expiredRowsAt(now: number, { sessionIdle, auditDays }: RetentionPeriods): ExpiredRows[] {
  const deniedBefore = now - Math.min(DENIED_ATTEMPT_DAYS, auditDays ?? DENIED_ATTEMPT_DAYS) * DAY;
  const past = (column: string, at: number) => sql`${sql.ref(column)} <= ${at}`;
  return [
    { table: 'sessions', key: 'id', condition: past('expires_at', now) },
    { table: 'sessions', key: 'id', condition: past('last_used_at', now - sessionIdle) },
    { table: 'throttled_attempts', key: 'subject', condition: past('ends_at', now) },
    { table: 'used_challenges', key: 'challenge_hash', condition: past('ends_at', now) },
    { table: 'password_resets', key: 'secret_hash', condition: past('expires_at', now) },
    { table: 'authorization_codes', key: 'code_hash', condition: past('expires_at', now - HOUR) },
    { table: 'refresh_tokens', key: 'id', condition: past('expires_at', now - 7 * DAY) },
    { table: 'tokens', key: 'id', condition: sql`kind = 'jwt' and ${past('expires_at', now - DAY)}` },
    { table: 'idempotency_keys', key: 'id', condition: past('created_at', now - RESPONSE_TTL) },
    { table: 'import_finding_snapshots', key: 'id', condition: past('changed_at', now - SNAPSHOT_RETENTION) },
    { table: 'bulk_changes', key: 'id', condition: past('changed_at', now - UNDO_WINDOW) },
    { table: 'denied_attempt_minutes', key: 'minute', condition: past('minute', minuteOf(now - HOUR)) },
    // The key begins with the minute, which keeps its number of digits until the year 2160.
    {
      table: 'audit_events',
      key: 'id',
      condition: sql`denied_key is not null and denied_key < ${String(minuteOf(deniedBefore))}`,
    },
  ];
}

function minuteOf(time: number): number {
  return Math.floor(time / MINUTE);
}

/**
 * Deletes audit events up to a time. Reads from the oldest event until a batch has none to delete: an index by time would
 * cost every write.
 */
async function deleteOldAuditEvents(db: Database, until: number, isStopping: () => boolean): Promise<number> {
  let deleted = 0;
  let lastId = 0;
  while (!isStopping()) {
    const rows = await db.read
      .selectFrom('audit_events')
      .select(['id', 'at', 'action'])
      .where('id', '>', lastId)
      .orderBy('id')
      .limit(BATCH_ROWS)
      .execute();
    const ids = rows
      .filter(({ at, action }) => at <= until && action !== DEMO_LOAD_ACTION)
      .map(({ id }) => id);
    if (ids.length === 0) break;
    await db.write((tx) =>
      tx
        .deleteFrom('audit_events')
        .where((eb) => inList(tx, eb.ref('id'), ids))
        .execute(),
    );
    deleted += ids.length;
    lastId = rows.at(-1)?.id ?? lastId;
  }
  return deleted;
}

async function deleteBatch(db: Database, { table, key, condition }: ExpiredRows): Promise<number> {
  const batch = sql`select ${sql.ref(key)} from ${sql.table(table)} where ${condition} limit ${BATCH_ROWS}`;
  // A read is cheaper than a transaction, and mostly there is nothing to do.
  if ((await batch.execute(db.read)).rows.length === 0) return 0;
  return db.write(async (tx) => {
    const statement = sql`delete from ${sql.table(table)} where ${condition} and ${sql.ref(key)} in (${batch})`;
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
