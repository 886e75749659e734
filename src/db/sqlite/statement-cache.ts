import { type DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import type { SqliteDatabase } from 'kysely';
import { LRUCache } from 'lru-cache';
import { Unavailable } from '../engine.ts';

const MAX_PREPARED_STATEMENTS = 500;

export type Connection = InstanceType<typeof DatabaseSync>;
type Row = Record<string, unknown>;

/** Keeps statements prepared by their text: preparing costs several times what a point select does. */
export class StatementCache implements SqliteDatabase {
  readonly #connection: Connection;
  readonly #statements = new LRUCache<string, ReturnType<typeof adapt>>({ max: MAX_PREPARED_STATEMENTS });

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  prepare(sql: string): ReturnType<typeof adapt> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = translating(() => adapt(this.#connection.prepare(sql)));
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  run(sql: string): void {
    this.prepare(sql).run([]);
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }
}

/** @returns what makes a row of its values */
export function objectsOf(names: readonly string[]): (values: readonly unknown[]) => Row {
  return (values) => {
    const row: Row = {};
    for (let column = 0; column < names.length; column += 1) row[names[column] as string] = values[column];
    return row;
  };
}

function adapt(statement: StatementSyncInstance) {
  const names = statement.columns().map((column) => column.name);
  // The driver makes an array faster than an object, and the engine reads an object of ours faster than the driver's.
  statement.setReturnArrays(true);
  const toObject = objectsOf(names);
  return {
    reader: names.length > 0,
    all: (parameters: readonly unknown[]) =>
      translating(() => (statement.all(...bindable(parameters)) as unknown[][]).map(toObject)),
    run: (parameters: readonly unknown[]) => translating(() => statement.run(...bindable(parameters))),
    iterate(): never {
      throw new TypeError('Nothing here streams from the database.');
    },
  };
}

/** A list travels as JSON, which `isOneOf` takes apart again. Most statements have none, and some many parameters. */
export function bindable(parameters: readonly unknown[]): readonly unknown[] {
  for (const value of parameters) {
    if (typeof value === 'object' && value !== null) return parameters.map(bindableValue);
  }
  return parameters;
}

function bindableValue(value: unknown): unknown {
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

export function isBusy(error: unknown): boolean {
  return isDriverError(error) && /database is (locked|busy)|SQLITE_BUSY/.test(error.message);
}

/** What a unit of work throws has no code, and may say anything. */
function isDriverError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}

/** A disk that is full or failing, or a database that was closed, is no fault of the request. */
export function translateSqliteError(error: unknown): unknown {
  const failing =
    /disk (is full|I\/O error)|database or disk is full|out of memory|readonly database|is not open|is closed|been finalized|unable to open|SQLITE_(FULL|IOERR|NOMEM|CANTOPEN)/;
  if (isBusy(error) || (isDriverError(error) && failing.test(error.message))) {
    return new Unavailable('The database cannot answer now.', { cause: error });
  }
  return error;
}

export function translating<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw translateSqliteError(error);
  }
}
