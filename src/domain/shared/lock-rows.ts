import { type RawBuilder, sql } from 'kysely';
import { forKeyShare, forNoKeyUpdate, forUpdate, inList } from '../../db/dialect-sql.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';

/** In the order in which a transaction locks their rows (src/db/concurrency/README.md). */
type Table = 'users' | 'assessment_groups' | 'assessments' | 'vulnerabilities' | 'asset_tags' | 'assets';

type RowLock = (db: Pick<ReadConnection, 'engine'>) => RawBuilder<unknown>;

/** By what the transaction does with the rows afterwards: refer to them, change them, or delete them. */
export const LOCKS = { refer: forKeyShare, change: forNoKeyUpdate, delete: forUpdate } satisfies Record<
  string,
  RowLock
>;

/** @returns two queries that select and lock the same rows, to change them and to delete them */
export function byUse<T>(build: (lock: RowLock) => T): Record<'change' | 'delete', T> {
  return { change: build(LOCKS.change), delete: build(LOCKS.delete) };
}

type Lock = ReturnType<typeof preparePipelined<{ ids: readonly number[] }>>;
const prepared = new Map<string, Lock>();

/**
 * Locks rows until the transaction ends, in the order of their ids. The statements that follow run once the rows are
 * locked. Does nothing on SQLite, which has one writer at a time.
 * @param to what the transaction does with the rows afterwards
 */
export async function lockRows(
  tx: Transaction,
  to: keyof typeof LOCKS,
  table: Table,
  ids: readonly number[],
): Promise<void> {
  if (tx.engine === 'sqlite' || ids.length === 0) return;
  const key = `${to} ${table}`;
  let lock = prepared.get(key);
  if (lock === undefined) {
    lock = preparePipelined((on, p) =>
      on
        .selectFrom(table)
        .select('id')
        .where(inList(on, sql.ref<number>('id'), p.ids))
        .orderBy('id')
        .modifyEnd(LOCKS[to](on)),
    );
    prepared.set(key, lock);
  }
  await lock(tx, { ids });
}
