import { CompiledQuery, PostgresAdapter, sql as query } from 'kysely';
import type { Transaction } from './engine.ts';
import { chunked } from './chunks.ts';
import { markPipelined } from './prepared-queries.ts';

export type ColumnKind = 'int' | 'real' | 'text';
type InsertValue = string | number | null;
/** The values of one row, in the order of the columns. */
export type InsertRow = readonly InsertValue[];

/** Rows a statement on SQLite; the rest of a list goes in the next smaller one, so that few statements are prepared. */
const STATEMENT_SIZES = [200, 20, 1];
/** So many rows of numbers alone go as JSON in one statement on SQLite, which else keeps what each statement changes. */
const JSON_INSERT_THRESHOLD = 400;
/**
 * An insert of any number of rows, as fast as the engine takes them: SQLite wants many rows of bound parameters in a
 * statement that stays the same, PostgreSQL an array a column.
 * @param columns the columns in the order of a row's values
 * @param conflict what follows the rows: `on conflict …`
 */
export function prepareInsert(
  table: string,
  columns: Readonly<Record<string, ColumnKind>>,
  conflict = '',
): (tx: Transaction, rows: readonly InsertRow[]) => Promise<void> {
  const names = Object.keys(columns);
  const target = `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')})`;

  const placeholders = `(${names.map(() => '?').join(', ')})`;
  const statements = STATEMENT_SIZES.map((size) => ({
    size,
    sql: `${target} values ${Array(size).fill(placeholders).join(', ')} ${conflict}`,
  }));
  const numbersAlone = Object.values(columns).every((kind) => kind === 'int');
  const fromJson = `${target} select ${names.map((_name, index) => `value ->> ${index}`).join(', ')} from json_each(?) where true ${conflict}`;
  async function insertIntoSqlite(tx: Transaction, rows: readonly InsertRow[]): Promise<void> {
    if (numbersAlone && rows.length >= JSON_INSERT_THRESHOLD) {
      for (const some of chunked(rows)) await tx.executeQuery(CompiledQuery.raw(fromJson, [some]));
      return;
    }
    let start = 0;
    for (const { size, sql } of statements) {
      for (; rows.length - start >= size; start += size) {
        const values: InsertValue[] = [];
        for (let index = start; index < start + size; index += 1) values.push(...(rows[index] as InsertRow));
        await tx.executeQuery(CompiledQuery.raw(sql, values));
      }
    }
  }

  const arrays = names.map(
    (name, index) => `$${index + 1}::${POSTGRES_TYPES[columns[name] as ColumnKind]}[]`,
  );
  const fromArrays = `${target} select * from unnest(${arrays.join(', ')}) ${conflict}`;
  async function insertIntoPostgres(tx: Transaction, rows: readonly InsertRow[]): Promise<void> {
    const values = names.map((_name, column) => rows.map((row) => row[column]));
    await tx.executeQuery(markPipelined(CompiledQuery.raw(fromArrays, values)));
  }

  return async (tx, rows) => {
    if (rows.length === 0) return;
    const postgres = tx.getExecutor().adapter instanceof PostgresAdapter;
    await (postgres ? insertIntoPostgres(tx, rows) : insertIntoSqlite(tx, rows));
  };
}

/**
 * An insert of rows that differ in one whole number alone, which is all that is sent of each.
 * @param columns the columns that the rows have in common
 * @param each the column that tells them apart
 * @returns a function that takes what they have in common, in the order of the columns, and the numbers
 */
export function prepareInsertVarying(
  table: string,
  columns: Readonly<Record<string, ColumnKind>>,
  each: { column: string; kind: 'int' | 'text' },
): (tx: Transaction, common: InsertRow, numbers: readonly number[]) => Promise<void> {
  const names = Object.keys(columns);
  const target = `insert into ${table} ("${each.column}", ${names.map((name) => `"${name}"`).join(', ')})`;
  const places = names.map((name, index) => `$${index + 2}::${POSTGRES_TYPES[columns[name] as ColumnKind]}`);
  const number = each.kind === 'int' ? 'item' : 'item::text';
  const postgres = `${target} select ${number}, ${places.join(', ')} from unnest($1::bigint[]) as item`;
  const value = each.kind === 'int' ? 'value' : 'cast(value as text)';
  const sqlite = `${target} select ${value}, ${names.map((_name, index) => `?${index + 2}`).join(', ')} from json_each(?1)`;
  return async (tx, common, numbers) => {
    const isPostgres = tx.getExecutor().adapter instanceof PostgresAdapter;
    const statement = CompiledQuery.raw(isPostgres ? postgres : sqlite, [numbers, ...common]);
    await tx.executeQuery(isPostgres ? markPipelined(statement) : statement);
  };
}

/** Rows that differ in one whole number alone. */
interface InsertGroup {
  /** What they have in common, in the order of the columns. */
  common: InsertRow;
  numbers: readonly number[];
}

/**
 * The same of several groups of such rows: a statement a group on SQLite, which takes half as long as one that reads all
 * rows from one list, and one for all on PostgreSQL.
 */
export function prepareGroupedInsert(
  table: string,
  columns: Readonly<Record<string, ColumnKind>>,
  each: { column: string; kind: 'int' },
): (tx: Transaction, groups: readonly InsertGroup[]) => Promise<void> {
  const insertAlike = prepareInsertVarying(table, columns, each);
  const insertAll = prepareInsert(table, { ...columns, [each.column]: each.kind });
  return async (tx, groups) => {
    if (tx.getExecutor().adapter instanceof PostgresAdapter) {
      await insertAll(
        tx,
        groups.flatMap(({ common, numbers }) => numbers.map((number) => [...common, number])),
      );
      return;
    }
    for (const { common, numbers } of groups) await insertAlike(tx, common, numbers);
  };
}

const POSTGRES_TYPES = { int: 'bigint', real: 'double precision', text: 'text' };

/**
 * Takes ids for rows that are about to be inserted, so that what refers to them needs not wait for them.
 * @param table whose column `id` the engine assigns
 * @returns ascending; nobody else gets them, and those that are not used are lost
 */
export async function reserveIds(tx: Transaction, table: string, count: number): Promise<number[]> {
  if (count === 0) return [];
  if (tx.getExecutor().adapter instanceof PostgresAdapter) {
    const { rows } = await query<{ id: number }>`
      select nextval(pg_get_serial_sequence(${table}, 'id')) as id from generate_series(1, ${count}::int)`.execute(
      tx,
    );
    return rows.map(({ id }) => id).sort((one, other) => one - other);
  }
  const { rows } = await query<{
    seq: number;
  }>`select seq from sqlite_sequence where name = ${table}`.execute(tx);
  const last = rows[0]?.seq ?? 0;
  return Array.from({ length: count }, (_, index) => last + 1 + index);
}
