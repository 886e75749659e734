import { CompiledQuery, sql as query } from 'kysely';
import type { Transaction } from './database.ts';
import { chunked } from './chunks.ts';
import { markPipelined } from './prepared-queries.ts';

export type ColumnKind = 'int' | 'real' | 'text';
type InsertValue = string | number | null;
/** The values of a row, in the order of the columns. */
export type InsertRow = readonly InsertValue[];

/** Rows per statement on SQLite. The remaining rows go into smaller statements, so that few are prepared. */
const STATEMENT_SIZES = [200, 20, 1];
/**
 * Minimum number of integer rows that SQLite inserts from JSON in one statement, as each statement journals its
 * changes.
 */
const JSON_INSERT_THRESHOLD = 400;
/**
 * Prepares an insert of any number of rows in the fastest form for the engine: on SQLite, many rows of bound parameters
 * per cached statement; on PostgreSQL, one array per column.
 * @param columns in the order of a row's values
 * @param conflict an `on conflict` clause
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
  const integersOnly = Object.values(columns).every((kind) => kind === 'int');
  const fromJson = `${target} select ${names.map((_name, index) => `value ->> ${index}`).join(', ')} from json_each(?) where true ${conflict}`;
  async function insertIntoSqlite(tx: Transaction, rows: readonly InsertRow[]): Promise<void> {
    if (integersOnly && rows.length >= JSON_INSERT_THRESHOLD) {
      for (const chunk of chunked(rows)) await tx.executeQuery(CompiledQuery.raw(fromJson, [chunk]));
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
    await (tx.engine === 'postgres' ? insertIntoPostgres(tx, rows) : insertIntoSqlite(tx, rows));
  };
}

/**
 * Prepares an insert of rows that differ in one integer only, so that only this integer is sent for each row.
 * @param columns the columns with values that all rows share
 * @param varying the column that differs
 * @returns a function of the shared values, in the order of `columns`, and the integers
 */
export function prepareBatchInsert(
  table: string,
  columns: Readonly<Record<string, ColumnKind>>,
  varying: { column: string; kind: 'int' | 'text' },
): (tx: Transaction, common: InsertRow, numbers: readonly number[]) => Promise<void> {
  const names = Object.keys(columns);
  const target = `insert into ${table} ("${varying.column}", ${names.map((name) => `"${name}"`).join(', ')})`;
  const parameters = names.map(
    (name, index) => `$${index + 2}::${POSTGRES_TYPES[columns[name] as ColumnKind]}`,
  );
  const number = varying.kind === 'int' ? 'item' : 'item::text';
  const postgres = `${target} select ${number}, ${parameters.join(', ')} from unnest($1::bigint[]) as item`;
  const value = varying.kind === 'int' ? 'value' : 'cast(value as text)';
  const sqlite = `${target} select ${value}, ${names.map((_name, index) => `?${index + 2}`).join(', ')} from json_each(?1)`;
  return async (tx, common, numbers) => {
    const isPostgres = tx.engine === 'postgres';
    const statement = CompiledQuery.raw(isPostgres ? postgres : sqlite, [numbers, ...common]);
    await tx.executeQuery(isPostgres ? markPipelined(statement) : statement);
  };
}

/**
 * Prepares an insert of rows of integers that share some values, so that only the others are sent for each row.
 * @param common the columns with values that all rows share
 * @param varying the other columns
 * @param conflict an `on conflict` clause
 * @returns a function of the shared values and the others, in the order of the columns
 */
export function prepareInsertSharing(
  table: string,
  common: Readonly<Record<string, 'int'>>,
  varying: Readonly<Record<string, 'int'>>,
  conflict = '',
): (tx: Transaction, shared: InsertRow, rows: readonly InsertRow[]) => Promise<void> {
  const [sharedNames, varyingNames] = [Object.keys(common), Object.keys(varying)];
  const names = [...varyingNames, ...sharedNames].map((name) => `"${name}"`).join(', ');
  const statement = (columns: readonly string[], source: string, first: number, parameter: string) => {
    const values = [
      ...columns,
      ...sharedNames.map((_name, index) => parameter.replace('N', String(first + index))),
    ];
    return `insert into ${table} (${names}) select ${values.join(', ')} from ${source} where true ${conflict}`;
  };
  const sqlite = statement(
    varyingNames.map((_name, index) => `value ->> ${index}`),
    'json_each(?1)',
    2,
    '?N',
  );
  const postgres = statement(
    varyingNames.map((_name, index) => `item.c${index}`),
    `unnest(${varyingNames.map((_name, index) => `$${index + 1}::bigint[]`).join(', ')})
      as item (${varyingNames.map((_name, index) => `c${index}`).join(', ')})`,
    varyingNames.length + 1,
    '$N::bigint',
  );
  return async (tx, values, rows) => {
    if (tx.engine === 'postgres') {
      const columns = varyingNames.map((_name, column) => rows.map((row) => row[column]));
      await tx.executeQuery(markPipelined(CompiledQuery.raw(postgres, [...columns, ...values])));
      return;
    }
    for (const chunk of chunked(rows)) await tx.executeQuery(CompiledQuery.raw(sqlite, [chunk, ...values]));
  };
}

/** Rows that differ in one integer only. */
interface InsertGroup {
  /** The shared values, in the order of the columns. */
  common: InsertRow;
  numbers: readonly number[];
}

/**
 * Prepares an insert of several groups of such rows: on SQLite with a statement per group, which takes half as long as
 * one for all rows; on PostgreSQL with one statement.
 */
export function prepareGroupedInsert(
  table: string,
  columns: Readonly<Record<string, ColumnKind>>,
  each: { column: string; kind: 'int' },
): (tx: Transaction, groups: readonly InsertGroup[]) => Promise<void> {
  const insertAlike = prepareBatchInsert(table, columns, each);
  const insertAll = prepareInsert(table, { ...columns, [each.column]: each.kind });
  return async (tx, groups) => {
    if (tx.engine === 'postgres') {
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
 * Reserves ids, so that rows that refer to others can be inserted without waiting for these.
 * @param table with a column `id` that the engine assigns
 * @returns ascending ids that no other transaction gets while this one can still commit. Ids that stay unused are lost;
 *   on SQLite, a rollback frees them
 */
export async function reserveIds(tx: Transaction, table: string, count: number): Promise<number[]> {
  if (count === 0) return [];
  if (tx.engine === 'postgres') {
    const { rows } = await query<{ id: number }>`
      select nextval(pg_get_serial_sequence(${table}, 'id')) as id from generate_series(1, ${count}::int)`.execute(
      tx,
    );
    return rows.map(({ id }) => id).sort((one, other) => one - other);
  }
  const { rows } = await query<{ seq: number }>`
    update sqlite_sequence set seq = seq + ${count} where name = ${table} returning seq`.execute(tx);
  let last = rows[0]?.seq;
  if (last === undefined) {
    // The engine adds the row with the first row of the table.
    last = count;
    await query`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(tx);
  }
  const first = last - count + 1;
  return Array.from({ length: count }, (_, index) => first + index);
}
