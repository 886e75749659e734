import { sql } from 'kysely';
import type { Transaction } from '../database.ts';

/** Smaller tables are fast under any plan; larger ones already have statistics that lead to a good one. */
const MIN_PAGES = 4;
const MAX_PAGES = 1_000;
/** How many times larger than the planner's statistics a table must be. */
const GROWTH_FACTOR = 4;

/**
 * Analyzes tables that have outgrown the statistics of PostgreSQL's planner. Statements and foreign key checks cache their
 * plans, and a plan made for a nearly empty table scans the whole table for each row (ADR 69). Skips tables that another
 * session is analyzing. Does nothing on SQLite.
 */
export async function analyzeGrownTables(tx: Transaction, tables: readonly string[]): Promise<void> {
  if (tx.engine !== 'postgres') return;
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
