import { PostgresAdapter, sql } from 'kysely';
import type { Transaction } from '../engine.ts';

/** Pages below which a table that has grown is read as fast in whatever way, and above which no plan is wrong any more. */
const MIN_PAGES = 4;
const MAX_PAGES = 1_000;
/** So many times the pages that the planner knows of. */
const GROWTH_FACTOR = 4;

/**
 * Tells PostgreSQL's planner of tables that have grown much since it looked last: each statement and each check of a
 * foreign key has a plan that it keeps, and one of when a table was nearly empty reads all of it for each row (ADR 69).
 * What somebody else is looking at is left to them. SQLite plans without counts.
 */
export async function analyzeGrownTables(tx: Transaction, tables: readonly string[]): Promise<void> {
  if (!(tx.getExecutor().adapter instanceof PostgresAdapter)) return;
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where oid in (select to_regclass(name) from unnest(${tables}::text[]) as name) and relpages < ${MAX_PAGES}::int
      and pg_relation_size(oid)
        >= ${GROWTH_FACTOR}::int * greatest(relpages, ${MIN_PAGES}::int) * current_setting('block_size')::bigint`.execute(
    tx,
  );
  if (rows.length === 0) return;
  await sql`analyze (skip_locked) ${sql.join(rows.map(({ name }) => sql.table(name)))}`.execute(tx);
}
