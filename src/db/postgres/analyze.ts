import { PostgresAdapter, sql } from 'kysely';
import type { Transaction } from '../engine.ts';

/** Pages below which a table that has grown is read as fast in whatever way, and above which no plan is wrong any more. */
const FEW = 4;
const ENOUGH = 1_000;
/** So many times the pages that the planner knows of. */
const GROWN = 4;

/**
 * Tells PostgreSQL's planner of tables that have grown much since it looked last: each statement and each check of a
 * foreign key has a plan that it keeps, and one of when a table was nearly empty reads all of it for each row (ADR 69).
 * What somebody else is looking at is left to them. SQLite plans without counts.
 */
export async function noteGrowth(tx: Transaction, tables: readonly string[]): Promise<void> {
  if (!(tx.getExecutor().adapter instanceof PostgresAdapter)) return;
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where oid in (select to_regclass(name) from unnest(${tables}::text[]) as name) and relpages < ${ENOUGH}::int
      and pg_relation_size(oid)
        >= ${GROWN}::int * greatest(relpages, ${FEW}::int) * current_setting('block_size')::bigint`.execute(
    tx,
  );
  if (rows.length === 0) return;
  await sql`analyze (skip_locked) ${sql.join(rows.map(({ name }) => sql.table(name)))}`.execute(tx);
}
