import { networkPrefix } from '../../auth/ip-addresses.ts';
import type { ChangeContext } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { Database, ReadConnection, Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery, prepareRowCount, prepareWrite } from '../../db/prepared-queries.ts';
import type { Row } from '../../db/schema.ts';
import { OVERFLOW_ACTION, OVERFLOW_OBJECT_TYPE, type DeniedObject } from './actions.ts';
import { EVENT_COLUMNS, auditJson } from './record-event.ts';

const MINUTE = 60_000;
/** Milliseconds in memory, so that a flood costs one transaction a second. */
const FLUSH_MILLISECONDS = 1_000;
/** Rows per minute over all instances. Further attempts are counted in one more row. */
const MAX_ROWS_PER_MINUTE = 999;
/** Minutes buffered while the database is unavailable. Older ones are dropped. */
const MAX_BUFFERED_MINUTES = 5;

export type DeniedAttempt = DeniedObject & {
  /** The organization of the target. Not stored for unauthenticated requests: its admins must not learn of them. */
  organizationId: number | null;
  details: unknown;
};

export interface DatabaseWithDenials {
  db: Database;
  deniedAttempts: DeniedAttempts;
}

type PendingRow = Omit<Row<'audit_events'>, 'id' | 'before' | 'internal' | 'denied_key'>;

/** The attempts of a minute that are not written yet. */
interface MinuteBuffer {
  byKey: Map<string, PendingRow>;
  /** Attempts beyond `MAX_ROWS_PER_MINUTE`. */
  overflow: number;
}

/** Columns that are `null` in a row that stands for several attempts where these differ. */
const SHARED_COLUMNS = [
  'object_id',
  'organization_id',
  'user_id',
  'credential_id',
  'request_id',
  'after',
] as const;

const COLUMNS = { ...EVENT_COLUMNS, denied_key: 'text', count: 'int' } as const;

const upsertDenials = prepareInsert(
  'audit_events',
  COLUMNS,
  `on conflict (denied_key) where denied_key is not null do update set count = audit_events.count + excluded.count, ${SHARED_COLUMNS.map(
    (column) =>
      `${column} = case when audit_events.${column} = excluded.${column} then audit_events.${column} end`,
  ).join(
    ', ',
  )}, actor_kind = case when audit_events.actor_kind = excluded.actor_kind then audit_events.actor_kind else 'stranger' end`,
);

/** Locks the row of the minute against other instances until the transaction ends. */
const lockMinute = prepareWrite<{ minute: number; events: number }, { events: number }>((tx, p) =>
  tx
    .insertInto('denied_attempt_minutes')
    .values({ minute: p.minute, events: p.events })
    .onConflict((conflict) => conflict.column('minute').doUpdateSet({ minute: p.minute }))
    .returning('events'),
);

const setRowCount = prepareRowCount<{ minute: number; events: number }>((tx, p) =>
  tx.updateTable('denied_attempt_minutes').set({ events: p.events }).where('minute', '=', p.minute),
);

const findStoredKeys = prepareQuery<{ keys: readonly string[] }, { denied_key: string | null }>(
  (db: ReadConnection, p) =>
    db
      .selectFrom('audit_events')
      .select('denied_key')
      .where('denied_key', 'is not', null)
      .where((eb) => inList(db, eb.ref('denied_key'), p.keys)),
);

/**
 * Counts denied attempts to authenticate in one row for each minute, action and network, with a bounded number of rows
 * per minute over all instances (ADR 18). Attempts are buffered for a second, so a flood costs the database no more
 * than a single attempt; a killed process loses the attempts of its last second.
 */
export class DeniedAttempts {
  readonly #db: Database;
  readonly #minutes = new Map<number, MinuteBuffer>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Counts an attempt and returns immediately. */
  record({ actor, now }: ChangeContext, { action, object, organizationId, details }: DeniedAttempt): void {
    const address = actor.address === null ? null : networkPrefix(actor.address);
    const waiting: PendingRow = {
      at: now,
      action,
      object_type: object[0],
      object_id: object[1] === null ? null : String(object[1]),
      organization_id: actor.kind === 'stranger' ? null : organizationId,
      actor_kind: actor.kind,
      user_id: actor.userId,
      credential_id: actor.credentialId,
      address,
      request_id: actor.requestId,
      after: auditJson(details),
      count: 1,
    };
    addToMinute(this.#minute(Math.floor(now / MINUTE)), `${action} ${address ?? ''}`, waiting);
    this.#flushLater();
  }

  /** Writes the buffered attempts. Those that cannot be written stay buffered. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  /** Writes the buffered attempts if the database is available. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.flush().catch(() => undefined);
    clearTimeout(this.#timer);
  }

  #minute(number: number): MinuteBuffer {
    let minute = this.#minutes.get(number);
    if (minute === undefined) {
      this.#minutes.set(number, (minute = { byKey: new Map(), overflow: 0 }));
      if (this.#minutes.size > MAX_BUFFERED_MINUTES) this.#minutes.delete(Math.min(...this.#minutes.keys()));
    }
    return minute;
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.flush().catch(() => {
        if (this.#minutes.size > 0) this.#flushLater();
      });
    }, FLUSH_MILLISECONDS).unref();
  }

  async #write(): Promise<void> {
    for (const [number, minute] of this.#minutes) {
      this.#minutes.delete(number);
      try {
        await this.#db.write((tx) => writeMinute(tx, number, minute));
      } catch (error) {
        const since = this.#minutes.get(number);
        this.#minutes.set(number, minute);
        if (since !== undefined) {
          for (const [key, waiting] of since.byKey) addToMinute(minute, key, waiting);
          minute.overflow += since.overflow;
        }
        throw error;
      }
    }
  }
}

/** Merges an attempt into its row. Columns that differ become `null`. */
function addToMinute(minute: MinuteBuffer, key: string, attempt: PendingRow): void {
  const before = minute.byKey.get(key);
  if (before !== undefined) {
    before.count += attempt.count;
    for (const column of SHARED_COLUMNS) if (before[column] !== attempt[column]) before[column] = null;
    if (before.actor_kind !== attempt.actor_kind) before.actor_kind = 'stranger';
  } else if (minute.byKey.size < MAX_ROWS_PER_MINUTE) minute.byKey.set(key, attempt);
  else minute.overflow += attempt.count;
}

async function writeMinute(
  tx: Transaction,
  number: number,
  { byKey, overflow }: MinuteBuffer,
): Promise<void> {
  const [claimed] = await lockMinute(tx, { minute: number, events: 0 });
  const events = claimed?.events ?? 0;
  const keyed = [...byKey].map(([key, waiting]) => ({ ...waiting, denied_key: `${number} ${key}` }));
  const storedRows = await findStoredKeys(tx, { keys: keyed.map((row) => row.denied_key) });
  const stored = new Set(storedRows.map((row) => row.denied_key));
  const newRows = keyed.filter((row) => !stored.has(row.denied_key));
  const written = newRows.slice(0, MAX_ROWS_PER_MINUTE - events);
  const rest = newRows.slice(written.length).reduce((sum, { count }) => sum + count, overflow);
  const rows = [...keyed.filter((row) => stored.has(row.denied_key)), ...written];
  const names = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
  await upsertDenials(
    tx,
    [...rows, ...(rest === 0 ? [] : [overflowRow(number, rest)])].map((row) =>
      names.map((name) => row[name]),
    ),
  );
  await setRowCount(tx, { minute: number, events: events + written.length });
}

function overflowRow(minute: number, count: number) {
  return {
    denied_key: `${minute} ${OVERFLOW_ACTION}`,
    at: minute * MINUTE,
    action: OVERFLOW_ACTION,
    object_type: OVERFLOW_OBJECT_TYPE,
    object_id: null,
    organization_id: null,
    actor_kind: 'stranger',
    user_id: null,
    credential_id: null,
    address: null,
    request_id: null,
    after: null,
    count,
  };
}
