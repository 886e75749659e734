import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';

export type ScratchValue = string | number | null;

export interface ScratchStatement {
  /** @returns the number of changed rows */
  run(...values: ScratchValue[]): number;
  /** @returns the values of the first row, in the order of the columns */
  first(...values: ScratchValue[]): ScratchValue[] | undefined;
  all<R extends readonly ScratchValue[]>(...values: ScratchValue[]): R[];
}

/** Temporary tables, which spill to disk when they outgrow their cache. */
export interface ScratchDatabase {
  prepare(sql: string): ScratchStatement;
  close(): void;
}

const CACHE_KIB = 4 * 1024;

/** Opens an unnamed temporary database, whose file the system deletes with the process. */
export function openScratchDatabase(createStatements: readonly string[]): ScratchDatabase {
  const connection = new DatabaseSync('');
  connection.exec('pragma journal_mode = off');
  connection.exec('pragma synchronous = off');
  connection.exec(`pragma cache_size = -${CACHE_KIB}`);
  for (const statement of createStatements) connection.exec(statement);
  // Never committed, because no other connection reads it and it need not be durable.
  connection.exec('begin');
  return {
    prepare: (sql) => adaptScratchStatement(connection.prepare(sql)),
    close: () => connection.close(),
  };
}

function adaptScratchStatement(statement: StatementSyncInstance): ScratchStatement {
  const returnsRows = statement.columns().length > 0;
  if (returnsRows) statement.setReturnArrays(true);
  return {
    run: (...values) => statement.run(...values).changes,
    first: (...values) => statement.get(...values) as ScratchValue[] | undefined,
    all: <R>(...values: ScratchValue[]) => statement.all(...values) as R[],
  };
}
