import { sql } from 'kysely';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { pairsTable, inList } from '../../db/dialect-sql.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';

/**
 * What is counted for many who write at once (ADR 37), and the buckets of each:
 * - `organization`, `assessment`: its vulnerabilities, by `statusId:severityRank`
 * - `vulnerability-tag`: the vulnerabilities that have it, in the bucket `all`
 * - `asset`: the vulnerabilities of an asset, `open` (which are not closed) and `closed`
 * - `organization-ports`: the hosts of an organization that have a port, by `state:number/protocol`, the number in five digits
 */
export type CounterKind =
  'organization-ports' | 'organization' | 'assessment' | 'vulnerability-tag' | 'asset';

/** What a change adds to a count, or takes from it. */
export interface CounterDelta {
  kind: CounterKind;
  /** The id of what the kind names. */
  subject: number;
  bucket: string;
  amount: number;
}

/** By subject and bucket; what is 0 may be absent. */
export type CounterValues = ReadonlyMap<number, ReadonlyMap<string, number>>;

const COLUMNS = { kind: 'text', subject: 'int', bucket: 'text', amount: 'int' } as const;
const insertDeltaRows = prepareInsert('tally_differences', COLUMNS);
const upsertCounters = prepareInsert(
  'tallies',
  COLUMNS,
  'on conflict (kind, subject, bucket) do update set amount = tallies.amount + excluded.amount',
);

/** Changes counts in the unit of work that changes what is counted. Nobody waits for anybody by it. */
export async function addDeltas(tx: Transaction, differences: readonly CounterDelta[]): Promise<void> {
  await insertDeltas(tx, toRows(differences));
}

/** Sums what many changes do to the same counts, so that a unit of work writes each count once. */
export class DeltaAccumulator {
  readonly #sums = new Map<string, Delta>();

  /** @param times how many there are that change the same counts in the same way */
  add(differences: readonly Delta[], times = 1): void {
    for (const { kind, subject, bucket, amount } of differences) {
      const key = `${kind} ${subject} ${bucket}`;
      const sum = this.#sums.get(key);
      if (sum === undefined) this.#sums.set(key, { kind, subject, bucket, amount: amount * times });
      else sum.amount += amount * times;
    }
  }

  /** @returns a row for each count that changes, in one order */
  rows(): DeltaRow[] {
    return [...this.#sums]
      .filter(([, { amount }]) => amount !== 0)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { kind, subject, bucket, amount }]) => [kind, subject, bucket, amount]);
  }
}

interface Delta {
  kind: string;
  subject: number;
  bucket: string;
  amount: number;
}

/** A difference as it is written. */
export type DeltaRow = readonly [kind: string, subject: number, bucket: string, amount: number];

/** The same as `addTallies`, of what is summed already: each count once. */
export async function insertDeltas(tx: Transaction, rows: readonly DeltaRow[]): Promise<void> {
  await insertDeltaRows(tx, rows);
  const open = rows.flatMap(([kind, subject, bucket, amount]) =>
    kind === 'asset' && bucket === 'open' ? [[subject, amount]] : [],
  );
  if (open.length > 0) await addOpenVulnerabilities(tx, { amounts: JSON.stringify(open) });
}

/** Lists of assets are sorted by their open vulnerabilities, which an index has to know (ADR 45). */
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

/** @returns the counts of these subjects */
export async function readCounters(
  db: ReadConnection,
  kind: CounterKind,
  subjects: readonly number[],
): Promise<CounterValues> {
  if (subjects.length === 0) return new Map();
  const of = (table: 'tallies' | 'tally_differences') =>
    sql`select subject, bucket, amount from ${sql.table(table)}
      where kind = ${kind} and ${inList(db, sql.ref<number>('subject'), subjects)}`;
  return groupBySubject(
    (
      await sql<SumRow>`select subject, bucket, cast(sum(amount) as bigint) as amount
        from (${of('tallies')} union all ${of('tally_differences')}) as counts
        group by subject, bucket`.execute(db)
    ).rows,
  );
}

interface SumRow {
  subject: number;
  bucket: string;
  amount: number;
}

function groupBySubject(rows: readonly SumRow[]): CounterValues {
  const tallies = new Map<number, Map<string, number>>();
  for (const { subject, bucket, amount } of rows) {
    const buckets = tallies.get(subject);
    if (buckets === undefined) tallies.set(subject, new Map([[bucket, amount]]));
    else buckets.set(bucket, amount);
  }
  return tallies;
}

/** Forgets the counts of what is deleted, where what was counted went with it. */
export async function deleteCounters(tx: Transaction, kind: CounterKind, subject: number): Promise<void> {
  await tx.deleteFrom('tally_differences').where('kind', '=', kind).where('subject', '=', subject).execute();
  await tx.deleteFrom('tallies').where('kind', '=', kind).where('subject', '=', subject).execute();
}

/**
 * Adds the oldest differences to the counts that they change. Whoever reads meanwhile finds the same sums.
 * @param limit the most differences in one unit of work
 * @returns how many there were
 */
export async function compactCounters(tx: Transaction, limit: number): Promise<number> {
  const oldest = tx.selectFrom('tally_differences').select('id').orderBy('id').limit(limit);
  const taken = await tx
    .deleteFrom('tally_differences')
    .where('id', 'in', oldest)
    .returning(['kind', 'subject', 'bucket', 'amount'])
    .execute();
  const rows = toRows(taken);
  await upsertCounters(tx, rows);
  // What is deleted leaves nothing behind.
  await tx
    .deleteFrom('tallies')
    .where((eb) =>
      inList(
        tx,
        eb.ref('subject'),
        rows.map(([, subject]) => subject),
      ),
    )
    .where('kind', 'in', [...new Set(rows.map(([kind]) => kind)), ''])
    .where('amount', '=', 0)
    .execute();
  return taken.length;
}
