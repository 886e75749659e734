import { type DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import type { SqliteDatabase } from 'kysely';
import { LRUCache } from 'lru-cache';
import { StorageError } from '../database.ts';

const MAX_PREPARED_STATEMENTS = 500;

export type SqliteConnection = InstanceType<typeof DatabaseSync>;
type Row = Record<string, unknown>;

/** Caches prepared statements by their text: preparing costs several times as much as a point select. */
export class StatementCache implements SqliteDatabase {
  readonly #connection: SqliteConnection;
  readonly #statements = new LRUCache<string, ReturnType<typeof adaptStatement>>({
    max: MAX_PREPARED_STATEMENTS,
  });

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  prepare(sql: string): ReturnType<typeof adaptStatement> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = withTranslatedErrors(() => adaptStatement(this.#connection.prepare(sql)));
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

/** @returns a function that turns the values of a row into an object */
export function rowMapper(names: readonly string[]): (values: readonly unknown[]) => Row {
  return (values) => {
    const row: Row = {};
    for (let column = 0; column < names.length; column += 1) row[names[column] as string] = values[column];
    return row;
  };
}

function adaptStatement(statement: StatementSyncInstance) {
  const names = statement.columns().map((column) => column.name);
  // The driver returns arrays faster than objects, and V8 reads our objects faster than the driver's.
  statement.setReturnArrays(true);
  const toRow = rowMapper(names);
  return {
    reader: names.length > 0,
    all: (parameters: readonly unknown[]) =>
      withTranslatedErrors(() => (statement.all(...toBindable(parameters)) as unknown[][]).map(toRow)),
    run: (parameters: readonly unknown[]) =>
      withTranslatedErrors(() => statement.run(...toBindable(parameters))),
    iterate(): never {
      throw new TypeError('SQLite statements do not stream.');
    },
  };
}

/** Encodes lists as JSON, which `inList` expands. Most statements have none, and some have many parameters. */
export function toBindable(parameters: readonly unknown[]): readonly unknown[] {
  for (const value of parameters) {
    if (typeof value === 'object' && value !== null) return parameters.map(toBindableValue);
  }
  return parameters;
}

function toBindableValue(value: unknown): unknown {
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

export function isBusyError(error: unknown): boolean {
  return isDriverError(error) && /database is (locked|busy)|SQLITE_BUSY/.test(error.message);
}

/** Errors without a code come from the transaction itself, and their messages prove nothing. */
function isDriverError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && !(error instanceof StorageError);
}

/** Turns a full or failing disk, a lock and a closed database into a `StorageError`. */
export function translateSqliteError(error: unknown): unknown {
  const failing =
    /disk (is full|I\/O error)|database or disk is full|out of memory|readonly database|is not open|is closed|been finalized|unable to open|SQLITE_(FULL|IOERR|NOMEM|CANTOPEN)/;
  if (isBusyError(error) || (isDriverError(error) && failing.test(error.message))) {
    return new StorageError('unavailable', 'The database is not available.', { cause: error });
  }
  return error;
}

export function withTranslatedErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw translateSqliteError(error);
  }
}
