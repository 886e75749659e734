import { type Expression, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ReadConnection, Transaction } from './engine.ts';

/**
 * `column in (…)` for a list of any length, as one statement with one parameter on either engine.
 * @param values the list, or the placeholder of one in a prepared query
 */
export function inList<T extends string | number>(
  db: Pick<ReadConnection, 'getExecutor'>,
  column: Expression<T> | Expression<T | null>,
  values: readonly T[],
): RawBuilder<SqlBool> {
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? sql<SqlBool>`${column} = any(${values})`
    : sql<SqlBool>`${column} in (select value from json_each(${values}))`;
}

/**
 * @param select of one column of whole numbers
 * @returns these, read as one value: thousands of rows of one number take several times as long
 */
export async function selectIds(db: ReadConnection, select: RawBuilder<unknown>): Promise<number[]> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  const listed = isPostgres ? sql`json_agg(number)::text` : sql`json_group_array(number)`;
  const { rows } = await sql<{ list: string | null }>`with numbers (number) as (${select})
    select ${listed} as list from numbers`.execute(db);
  return JSON.parse(rows[0]?.list ?? '[]') as number[];
}

/**
 * A condition that rows of an order are tried by until a page is full. SQLite would gather all that a select has before the
 * first row, and is told to look each row up; PostgreSQL chooses by itself.
 */
export function rowOrSetCondition(
  db: Pick<ReadConnection, 'getExecutor'>,
  { row, all }: { row: RawBuilder<SqlBool>; all: RawBuilder<SqlBool> },
): RawBuilder<SqlBool> {
  return db.getExecutor().adapter instanceof PostgresAdapter ? all : row;
}

/** A list of whole numbers as a table `item` with one column, `value`. */
export function numbersTable(
  db: Pick<ReadConnection, 'getExecutor'>,
  values: readonly number[],
): RawBuilder<{ value: number }> {
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? sql`unnest(${values}::bigint[]) as item (value)`
    : sql`json_each(${values}) as item`;
}

/** Pairs of whole numbers, as JSON, as a table with the columns `one` and `other`, which wants a name. */
export function pairsTable(
  db: Pick<ReadConnection, 'getExecutor'>,
  pairs: string,
): RawBuilder<{ one: number; other: number }> {
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? sql`(select (value ->> 0)::bigint as one, (value ->> 1)::bigint as other
        from jsonb_array_elements(${pairs}::jsonb))`
    : sql`(select value ->> 0 as one, value ->> 1 as other from json_each(${pairs}))`;
}

/** JSON lists as a table `item` with one column, `value`, of which `value ->> 0` is the first text of a list. */
export function jsonRowsTable(
  db: Pick<ReadConnection, 'getExecutor'>,
  lists: readonly (readonly (string | number | null)[])[],
): RawBuilder<{ value: string }> {
  const text = JSON.stringify(lists);
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? sql`jsonb_array_elements(${text}::jsonb) as item (value)`
    : sql`json_each(${text}) as item`;
}

/** The value at an index of a row of `jsonRowsTable`. */
export const itemText = (index: number) => sql<string>`item.value ->> ${sql.lit(index)}`;
export const itemInteger = (index: number) => sql<number>`cast(item.value ->> ${sql.lit(index)} as bigint)`;
export const itemReal = (index: number) =>
  sql<number>`cast(item.value ->> ${sql.lit(index)} as double precision)`;

/**
 * The columns of a wide row to select. SQLite's driver takes longer for each value of a row than for reading all of it, so
 * there they are one value, in JSON. PostgreSQL would make that of every row before it sorts, and has them by themselves.
 * @param columns at most 100; what is selected is read by `unpackRows`
 */
export function packedColumns<C extends readonly string[]>(
  db: Pick<ReadConnection, 'getExecutor'>,
  columns: C,
): C {
  if (db.getExecutor().adapter instanceof PostgresAdapter) return columns;
  const list = sql.join(columns.map((column) => sql.ref(column)));
  // Whoever selects it has the rows of these columns once they are unpacked.
  return [sql<string>`json_array(${list})`.as(PACKED_COLUMN)] as unknown as C;
}

const PACKED_COLUMN = 'packed_columns';

/** @returns the rows of `wide` columns, which have these names in their order */
export function unpackRows<Row extends object>(names: readonly (keyof Row)[], rows: readonly Row[]): Row[] {
  const texts = rows.flatMap((row) => (PACKED_COLUMN in row ? [row[PACKED_COLUMN] as string] : []));
  if (texts.length === 0) return [...rows];
  const lists = JSON.parse(`[${texts.join(',')}]`) as Row[keyof Row][][];
  // A copy has all of its members from the start, and filling them is twice as fast as adding them.
  const empty = Object.fromEntries(names.map((name) => [name, null])) as Row;
  return lists.map((values) => {
    const row = { ...empty };
    for (let column = 0; column < names.length; column += 1)
      row[names[column] as keyof Row] = values[column] as Row[keyof Row];
    return row;
  });
}

/**
 * A whole number's column in a condition that finds no rows and only leaves some out. Without a word, SQLite walks
 * through all rows of an organization by its index, rather than look up a list of keys in theirs.
 */
export function withoutIndex(column: Expression<number>): RawBuilder<number> {
  return sql<number>`+${column}`;
}

/**
 * What ends a select of a unit of work whose rows nobody may delete until the unit is over. Where there is one writer at
 * a time, it need not be said.
 */
export function forKeyShare(db: Pick<ReadConnection, 'getExecutor'>): RawBuilder<unknown> {
  return db.getExecutor().adapter instanceof PostgresAdapter ? sql`for key share` : sql``;
}

/**
 * What ends a select of a unit of work whose rows nobody may change or delete until the unit is over, while others may
 * still refer to them. Whoever else holds them waits, and then finds what the first has left. Where there is one writer at
 * a time, it need not be said.
 * @param table whose rows, where several are joined
 */
export function forNoKeyUpdate(db: Pick<ReadConnection, 'getExecutor'>, table?: string): RawBuilder<unknown> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return sql``;
  return table === undefined ? sql`for no key update` : sql`for no key update of ${sql.ref(table)}`;
}

/**
 * Takes a lock that ends with the unit of work, on whichever instance that runs, without waiting for it. Where there is one
 * writer at a time, nobody else can have it.
 * @param number of 64 bits, of what is locked
 * @returns whether this unit of work has it
 */
export async function tryAdvisoryLock(tx: Transaction, number: bigint): Promise<boolean> {
  if (!(tx.getExecutor().adapter instanceof PostgresAdapter)) return true;
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${String(number)}::bigint) as locked`.execute(tx);
  return rows[0]?.locked === true;
}

/** The form that names are compared by: without regard to case, outer space or composition of characters. */
export function normalizeName(name: string): string {
  return name.trim().normalize('NFC').toLowerCase();
}

/** @returns the condition that a text holds another one, which may be any; both in one form, as of `searchKey` */
export function containsSubstring(column: Expression<string>, part: string): RawBuilder<SqlBool> {
  const escaped = part.replace(/[\\%_]/g, '\\$&');
  return sql<SqlBool>`${column} like ${`%${escaped}%`} escape ${sql.lit('\\')}`;
}
