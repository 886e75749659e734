import { type Expression, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from './engine.ts';

/**
 * `column in (…)` for a list of any length, as one statement with one parameter on either engine.
 * @param values the list, or the placeholder of one in a prepared query
 */
export function isOneOf<T extends string | number>(
  db: Pick<Reader, 'getExecutor'>,
  column: Expression<T> | Expression<T | null>,
  values: readonly T[],
): RawBuilder<SqlBool> {
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? sql<SqlBool>`${column} = any(${values})`
    : sql<SqlBool>`${column} in (select value from json_each(${values}))`;
}

/** The form that names are compared by: without regard to case, outer space or composition of characters. */
export function nameKey(name: string): string {
  return name.trim().normalize('NFC').toLowerCase();
}
