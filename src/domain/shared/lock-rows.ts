import { sql } from 'kysely';
import { inList, type RowLock } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';

/** The tables in the order in which a transaction locks their rows (src/db/concurrency/README.md). */
const TABLES = [
  'users',
  'assessment_groups',
  'assessments',
  'vulnerabilities',
  'asset_tags',
  'assets',
] as const;
type Table = (typeof TABLES)[number];

/** Memoizes a query that takes a row lock, as a prepared query cannot choose its SQL by its parameters. */
export function memoizeByLock<T>(build: (lock: RowLock) => T): (lock: RowLock) => T {
  const built = new Map<RowLock, T>();
  return (lock) => {
    const query = built.get(lock) ?? build(lock);
    built.set(lock, query);
    return query;
  };
}

type LockQuery = ReturnType<typeof preparePipelined<{ ids: readonly number[] }>>;

const lockQueries = memoizeByLock(
  (lock) =>
    Object.fromEntries(
      TABLES.map((table): [Table, LockQuery] => [
        table,
        preparePipelined((tx, p) =>
          tx
            .selectFrom(table)
            .select('id')
            .where(inList(tx, sql.ref<number>('id'), p.ids))
            .orderBy('id')
            .modifyEnd(lock(tx)),
        ),
      ]),
    ) as Record<Table, LockQuery>,
);

/**
 * Locks rows until the transaction ends, in the order of their ids. The statements that follow run once the rows are
 * locked. Does nothing on SQLite, which has one writer at a time.
 * @param lock the strongest that the transaction needs: `forUpdate` to delete the rows, `forNoKeyUpdate` to change
 *   them, `forKeyShare` to insert rows that refer to them
 */
export async function lockRows(
  tx: Transaction,
  table: Table,
  ids: readonly number[],
  lock: RowLock,
): Promise<void> {
  if (tx.engine === 'sqlite' || ids.length === 0) return;
  await lockQueries(lock)[table](tx, { ids });
}
