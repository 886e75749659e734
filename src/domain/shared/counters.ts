import { sql } from 'kysely';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import {
  forNoKeyUpdate,
  inList,
  itemInteger,
  itemText,
  jsonRowsTable,
  pairsTable,
} from '../../db/dialect-sql.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';
import { lockRows } from './lock-rows.ts';
import { countersOfDelta, firstRetainedDay } from './vulnerability-buckets.ts';

/**
 * Counters that concurrent transactions change (ADR 37), and their buckets. Drafts have buckets of their own, because
 * only staff see them:
 * - `organization`, `assessment`: vulnerabilities; a delta has a `deltaBucket` and changes several counters (ADR 105)
 * - `vulnerability-tag`: vulnerabilities with the tag, `all` and `draft`
 * - `asset`: vulnerabilities of the asset, `open`, `closed` and `draft`
 * - `organization-ports`: hosts with the port, by `state:number/protocol`, with the number in five digits
 */
export type CounterKind =
  'organization-ports' | 'organization' | 'assessment' | 'vulnerability-tag' | 'asset';

/** The bucket of drafts. */
export const DRAFT = 'draft';

/** @returns the sum of a counter; with drafts for staff, without them for other callers */
export function visibleTotal(
  buckets: ReadonlyMap<string, number> | undefined,
  { staff }: { staff: boolean },
): number {
  let sum = 0;
  for (const [bucket, amount] of buckets ?? []) if (staff || bucket !== DRAFT) sum += amount;
  return sum;
}

const DAY_KINDS = ['organization', 'assessment'].flatMap((subject) =>
  ['-opened', '-closed', '-opened-source', '-closed-source'].map((measure) => `${subject}${measure}`),
);

export interface CounterDelta {
  kind: CounterKind;
  /** The id of the organization, assessment, tag or asset. */
  subject: number;
  bucket: string;
  amount: number;
}

/** Counts by subject and bucket. Zeros may be absent. */
export type CounterValues = ReadonlyMap<number, ReadonlyMap<string, number>>;

const COLUMNS = { kind: 'text', subject: 'int', bucket: 'text', amount: 'int' } as const;
const insertDeltaRows = prepareInsert('counter_deltas', COLUMNS);
const upsertCounters = prepareInsert(
  'counters',
  COLUMNS,
  'on conflict (kind, subject, bucket) do update set amount = counters.amount + excluded.amount',
);

/** Sums counter deltas and inserts them with `insertDeltas`, in the transaction of the change. */
export async function addDeltas(tx: Transaction, differences: readonly CounterDelta[]): Promise<void> {
  await insertDeltas(tx, toRows(differences));
}

/** Sums the deltas of many changes, so that a transaction writes each counter once. */
export class DeltaAccumulator {
  readonly #sums = new Map<string, Delta>();

  /** @param times how often the deltas apply */
  add(differences: readonly Delta[], times = 1): void {
    for (const { kind, subject, bucket, amount } of differences) {
      const key = `${kind} ${subject} ${bucket}`;
      const sum = this.#sums.get(key);
      if (sum === undefined) this.#sums.set(key, { kind, subject, bucket, amount: amount * times });
      else sum.amount += amount * times;
    }
  }

  /** @returns one row for each counter that changes, in a fixed order */
  rows(): DeltaRow[] {
    return [...this.#sums]
      .map(([, delta]) => delta)
      .filter(({ amount }) => amount !== 0)
      .sort(inFixedOrder)
      .map(({ kind, subject, bucket, amount }) => [kind, subject, bucket, amount]);
  }
}

/** Subjects ascend as numbers, so that also the parts of a long list lock their assets in one order. */
function inFixedOrder(one: Delta, other: Delta): number {
  if (one.kind !== other.kind) return one.kind < other.kind ? -1 : 1;
  return one.subject - other.subject || (one.bucket < other.bucket ? -1 : 1);
}

interface Delta {
  kind: string;
  subject: number;
  bucket: string;
  amount: number;
}

export type DeltaRow = readonly [kind: string, subject: number, bucket: string, amount: number];

/**
 * Inserts deltas that are already summed. The inserts block no other writer. If the number of open vulnerabilities of
 * an asset changes, this also locks and updates the asset's row, and other writers of that asset wait until the
 * transaction ends. So call it late.
 */
export async function insertDeltas(tx: Transaction, rows: readonly DeltaRow[]): Promise<void> {
  await insertDeltaRows(tx, rows);
  const open = rows.flatMap(([kind, subject, bucket, amount]) =>
    kind === 'asset' && bucket === 'open' ? [[subject, amount] as const] : [],
  );
  if (open.length === 0) return;
  await lockRows(
    tx,
    'assets',
    open.map(([id]) => id),
    forNoKeyUpdate,
  );
  await addOpenVulnerabilities(tx, { amounts: JSON.stringify(open) });
}

/** Maintains the column that sorts lists of assets by open vulnerabilities (ADR 45). */
const addOpenVulnerabilities = preparePipelined<{ amounts: string }>((tx, p) =>
  tx
    .updateTable('assets')
    .from(pairsTable(tx, p.amounts).as('item'))
    .set({ open_vulnerabilities: sql<number>`assets.open_vulnerabilities + other` })
    .whereRef('assets.id', '=', sql.ref('one')),
);

function toRows(differences: readonly Delta[]): DeltaRow[] {
  const sums = new DeltaAccumulator();
  sums.add(differences);
  return sums.rows();
}

export async function readCounters(
  db: ReadConnection,
  kind: Extract<CounterKind, 'vulnerability-tag' | 'asset'>,
  subjects: readonly number[],
): Promise<CounterValues> {
  if (subjects.length === 0) return new Map();
  const { rows } = await sql<SumRow>`select subject, bucket, cast(sum(amount) as bigint) as amount
    from (${selectAmounts(db, kind, subjects)}) as counts group by subject, bucket`.execute(db);
  return groupBySubject(rows);
}

function selectAmounts(db: ReadConnection, kind: CounterKind, subjects: readonly number[]) {
  const ofTable = (table: 'counters' | 'counter_deltas') =>
    sql`select subject, bucket, amount from ${sql.table(table)}
      where kind = ${kind} and ${inList(db, sql.ref<number>('subject'), subjects)}`;
  return sql`${ofTable('counters')} union all ${ofTable('counter_deltas')}`;
}

interface SumRow {
  subject: number;
  bucket: string;
  amount: number;
}

function groupBySubject(rows: readonly SumRow[]): CounterValues {
  const counters = new Map<number, Map<string, number>>();
  for (const { subject, bucket, amount } of rows) {
    const buckets = counters.get(subject);
    if (buckets === undefined) counters.set(subject, new Map([[bucket, amount]]));
    else buckets.set(bucket, amount);
  }
  return counters;
}

export async function deleteCounters(tx: Transaction, kind: CounterKind, subject: number): Promise<void> {
  await tx.deleteFrom('counter_deltas').where('kind', '=', kind).where('subject', '=', subject).execute();
  await tx.deleteFrom('counters').where('kind', '=', kind).where('subject', '=', subject).execute();
}

/**
 * Merges the oldest deltas into their counters, and deletes expired counters by day of the same organizations and
 * assessments. Concurrent readers see the same sums.
 * @param limit the maximum number of deltas in one transaction
 * @param now milliseconds since 1970
 * @returns the number of merged deltas
 */
export async function compactCounters(tx: Transaction, limit: number, now: number): Promise<number> {
  const oldest = tx.selectFrom('counter_deltas').select('id').orderBy('id').limit(limit);
  const deltas = await tx
    .deleteFrom('counter_deltas')
    .where('id', 'in', oldest)
    .returning(['kind', 'subject', 'bucket', 'amount'])
    .execute();
  const firstDay = firstRetainedDay(now);
  const rows = toRows(deltas.flatMap((delta) => splitDelta(delta, firstDay)));
  await upsertCounters(tx, rows);
  // Counters of deleted subjects end at zero.
  const keys = rows.map(([kind, subject, bucket]) => [kind, subject, bucket]);
  await sql`delete from counters where amount = 0 and (kind, subject, bucket) in (
    select ${itemText(0)}, ${itemInteger(1)}, ${itemText(2)} from ${jsonRowsTable(tx, keys)})`.execute(tx);
  for (const kind of DAY_KINDS) {
    const subjects = new Set(rows.flatMap(([ofRow, subject]) => (kind.startsWith(ofRow) ? [subject] : [])));
    if (subjects.size > 0)
      await tx
        .deleteFrom('counters')
        .where('kind', '=', kind)
        .where((eb) => inList(tx, eb.ref('subject'), [...subjects]))
        .where('bucket', '<', firstDay)
        .execute();
  }
  return deltas.length;
}

function splitDelta(delta: Delta, firstDay: string): Delta[] {
  const { kind } = delta;
  if (kind !== 'organization' && kind !== 'assessment') return [delta];
  return countersOfDelta(kind, delta.bucket, firstDay).map(([split, bucket]) => ({
    ...delta,
    kind: split,
    bucket,
  }));
}
