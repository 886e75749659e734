import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ReadConnection, Transaction } from './database.ts';

/**
 * `column in (…)` for a list of any length, with one parameter.
 * @param values the list, or its placeholder in a prepared query
 */
export function inList<T extends string | number>(
  db: Pick<ReadConnection, 'engine'>,
  column: Expression<T> | Expression<T | null>,
  values: readonly T[],
): RawBuilder<SqlBool> {
  return db.engine === 'postgres'
    ? sql<SqlBool>`${column} = any(${values})`
    : sql<SqlBool>`${column} in (select value from json_each(${values}))`;
}

/**
 * `column in (select …)` for many selected values: they are selected once and hashed. PostgreSQL would turn it into a
 * join. While its statistics lag behind, as after an import, that join reads all of the values for each row (ADR 91).
 * `is true` prevents it.
 */
export function inSelected(
  db: Pick<ReadConnection, 'engine'>,
  column: Expression<number>,
  select: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const isOne = sql<SqlBool>`${column} in (${select})`;
  return db.engine === 'postgres' ? sql<SqlBool>`(${isOne}) is true` : isOne;
}

/** The disjunction of conditions, nested as a tree: SQLite refuses an expression more than 1,000 levels deep. */
export function anyOf(conditions: readonly RawBuilder<SqlBool>[]): RawBuilder<SqlBool> {
  const [first, second] = conditions;
  if (first === undefined) return sql<SqlBool>`1 = 0`;
  if (second === undefined) return first;
  const middle = conditions.length >> 1;
  return sql<SqlBool>`(${anyOf(conditions.slice(0, middle))} or ${anyOf(conditions.slice(middle))})`;
}

/** A table of the texts in a JSON array, with the column `value`. */
export function jsonTexts(
  db: Pick<ReadConnection, 'engine'>,
  array: Expression<string>,
): RawBuilder<unknown> {
  return db.engine === 'postgres'
    ? sql`jsonb_array_elements_text(cast(${array} as jsonb)) as texts (value)`
    : sql`json_each(${array}) as texts`;
}

/**
 * Selects ids as one JSON value, which is several times faster than selecting thousands of rows.
 * @param select of one integer column
 */
export async function selectIds(db: ReadConnection, select: RawBuilder<unknown>): Promise<number[]> {
  const list = db.engine === 'postgres' ? sql`json_agg(number)::text` : sql`json_group_array(number)`;
  const { rows } = await sql<{ list: string | null }>`with numbers (number) as (${select})
    select ${list} as list from numbers`.execute(db);
  return JSON.parse(rows[0]?.list ?? '[]') as number[];
}

/**
 * The condition of a query that reads rows in order until a page is full: `row` tests each row, `all` is a subselect.
 * SQLite would materialize the subselect before the first row, so it gets `row`; PostgreSQL's planner decides itself.
 */
export function existsOrIn(
  db: Pick<ReadConnection, 'engine'>,
  { row, all }: { row: RawBuilder<SqlBool>; all: RawBuilder<SqlBool> },
): RawBuilder<SqlBool> {
  return db.engine === 'postgres' ? all : row;
}

/** A list of integers as a table `item` with one column, `value`. */
export function numbersTable(
  db: Pick<ReadConnection, 'engine'>,
  values: readonly number[],
): RawBuilder<{ value: number }> {
  return db.engine === 'postgres'
    ? sql`unnest(${values}::bigint[]) as item (value)`
    : sql`json_each(${values}) as item`;
}

/** A list of texts as a table with one column, `value`; the caller adds an alias. */
export function textsTable(
  db: Pick<ReadConnection, 'engine'>,
  values: readonly string[],
): RawBuilder<{ value: string }> {
  return db.engine === 'postgres'
    ? sql`(select unnest(${values}::text[]) as value)`
    : sql`(select value from json_each(${values}))`;
}

/** A JSON list of pairs of integers as a table with the columns `one` and `other`; the caller adds an alias. */
export function pairsTable(
  db: Pick<ReadConnection, 'engine'>,
  pairs: string,
): RawBuilder<{ one: number; other: number }> {
  return db.engine === 'postgres'
    ? sql`(select (value ->> 0)::bigint as one, (value ->> 1)::bigint as other
        from jsonb_array_elements(${pairs}::jsonb))`
    : sql`(select value ->> 0 as one, value ->> 1 as other from json_each(${pairs}))`;
}

/** Lists as a table `item` with one JSON column, `value`: `value ->> 0` is the first text of a list. */
export function jsonRowsTable(
  db: Pick<ReadConnection, 'engine'>,
  lists: readonly (readonly (string | number | null)[])[],
): RawBuilder<{ value: string }> {
  const text = JSON.stringify(lists);
  return db.engine === 'postgres'
    ? sql`jsonb_array_elements(${text}::jsonb) as item (value)`
    : sql`json_each(${text}) as item`;
}

/** The value at an index of a row of `jsonRowsTable`. */
export const itemText = (index: number) => sql<string>`item.value ->> ${sql.lit(index)}`;
export const itemInteger = (index: number) => sql<number>`cast(item.value ->> ${sql.lit(index)} as bigint)`;
export const itemReal = (index: number) =>
  sql<number>`cast(item.value ->> ${sql.lit(index)} as double precision)`;

/**
 * Selects the columns of a wide row as one JSON value on SQLite, whose driver spends more time on each value than on
 * reading the row. PostgreSQL would build that value for every row before it sorts, so it selects the columns.
 * `parseRows` reads the result of either.
 * @param columns at most 100
 */
export function rowsAsJson<C extends readonly string[]>(db: Pick<ReadConnection, 'engine'>, columns: C): C {
  if (db.engine === 'postgres') return columns;
  const list = sql.join(columns.map((column) => sql.ref(column)));
  // The type is true once `parseRows` has read the rows.
  return [sql<string>`json_array(${list})`.as(PACKED_COLUMN)] as unknown as C;
}

const PACKED_COLUMN = 'packed_columns';

/**
 * Unpacks rows that were selected by `rowsAsJson`.
 * @param names of the columns, in the same order
 */
export function parseRows<Row extends object>(names: readonly (keyof Row)[], rows: readonly Row[]): Row[] {
  const texts = rows.flatMap((row) => (PACKED_COLUMN in row ? [row[PACKED_COLUMN] as string] : []));
  if (texts.length === 0) return [...rows];
  const lists = JSON.parse(`[${texts.join(',')}]`) as Row[keyof Row][][];
  // Filling the properties of a copy is twice as fast as adding them.
  const empty = Object.fromEntries(names.map((name) => [name, null])) as Row;
  return lists.map((values) => {
    const row = { ...empty };
    for (let column = 0; column < names.length; column += 1)
      row[names[column] as keyof Row] = values[column] as Row[keyof Row];
    return row;
  });
}

/**
 * Prevents SQLite from using the index of an integer column that only filters: it would scan all rows of an
 * organization instead of looking up a list of keys.
 */
export function withoutIndex(column: Expression<number>): RawBuilder<number> {
  return sql<number>`+${column}`;
}

/** Ends a `select` with a row lock. */
export type RowLock = (db: Pick<ReadConnection, 'engine'>) => RawBuilder<unknown>;

/**
 * Locks the selected rows against deletion until the transaction ends. SQLite has one writer at a time, and needs no
 * lock.
 */
export function forKeyShare(db: Pick<ReadConnection, 'engine'>): RawBuilder<unknown> {
  return db.engine === 'postgres' ? sql`for key share` : sql``;
}

/**
 * Locks the selected rows against changes and deletion until the transaction ends; others may lock them in the same
 * way.
 */
export function forShare(db: Pick<ReadConnection, 'engine'>): RawBuilder<unknown> {
  return db.engine === 'postgres' ? sql`for share` : sql``;
}

/**
 * Locks the selected rows against changes and deletion until the transaction ends; others may still refer to them.
 * Another transaction that locks them waits, and then reads the changed rows. SQLite has one writer at a time, and
 * needs no lock.
 * @param table whose rows to lock, in a join
 */
export function forNoKeyUpdate(db: Pick<ReadConnection, 'engine'>, table?: string): RawBuilder<unknown> {
  if (db.engine !== 'postgres') return sql``;
  return table === undefined ? sql`for no key update` : sql`for no key update of ${sql.ref(table)}`;
}

/**
 * Locks the selected rows like `forNoKeyUpdate`, and also against new references to them: a transaction that refers to
 * one has ended, or waits.
 */
export function forUpdate(db: Pick<ReadConnection, 'engine'>): RawBuilder<unknown> {
  return db.engine === 'postgres' ? sql`for update` : sql``;
}

/**
 * Locks the selected rows like `forUpdate`, and leaves out those that another transaction has locked.
 * @param table whose rows to lock, in a join
 */
export function forUpdateSkipLocked(db: Pick<ReadConnection, 'engine'>, table: string): RawBuilder<unknown> {
  return db.engine === 'postgres' ? sql`for update of ${sql.ref(table)} skip locked` : sql``;
}

/**
 * Takes a lock, shared by all instances, until the transaction ends. Does not wait. Always succeeds on SQLite, which
 * has one writer at a time.
 * @param number the 64-bit id of the lock
 * @returns whether this transaction has the lock
 */
export async function tryAdvisoryLock(tx: Transaction, number: bigint): Promise<boolean> {
  if (tx.engine !== 'postgres') return true;
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${String(number)}::bigint) as locked`.execute(tx);
  return rows[0]?.locked === true;
}

/** Like `containsSubstring`, for columns without an index of trigrams: PostgreSQL then takes a third less time. */
export function containsText(
  db: Pick<ReadConnection, 'engine'>,
  column: Expression<string>,
  part: string,
): RawBuilder<SqlBool> {
  return db.engine === 'postgres'
    ? sql<SqlBool>`strpos(${column}, ${part}) > 0`
    : sql<SqlBool>`instr(${column}, ${part}) > 0`;
}

/** The condition that a column contains a text, with wildcards escaped. Both must be in the form of `foldCase`. */
export function containsSubstring(column: Expression<string>, part: string): RawBuilder<SqlBool> {
  const escaped = part.replace(/[\\%_]/g, '\\$&');
  return sql<SqlBool>`${column} like ${`%${escaped}%`} escape ${sql.lit('\\')}`;
}
