import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';

export type ScratchValue = string | number | null;

/** A statement of a spool, prepared once. */
export interface ScratchStatement {
  /** @returns how many rows it changed */
  run(...values: ScratchValue[]): number;
  /** @returns the first row, its values in the order of the columns */
  first(...values: ScratchValue[]): ScratchValue[] | undefined;
  all<R extends readonly ScratchValue[]>(...values: ScratchValue[]): R[];
}

/** Tables for the time of one piece of work, on disk as far as they outgrow their cache. */
export interface ScratchDatabase {
  prepare(sql: string): ScratchStatement;
  close(): void;
}

/** KiB that stay in memory. */
const CACHE_KIB = 4 * 1024;

/** Opens a spool: a file without a name in the folder for temporary files, which the system takes away with the process. */
export function openScratchDatabase(tables: readonly string[]): ScratchDatabase {
  const connection = new DatabaseSync('');
  connection.exec('pragma journal_mode = off');
  connection.exec('pragma synchronous = off');
  connection.exec(`pragma cache_size = -${CACHE_KIB}`);
  for (const table of tables) connection.exec(table);
  // Nothing of it is ever committed: nobody else reads it, and nothing of it is to last.
  connection.exec('begin');
  return {
    prepare: (sql) => adaptScratchStatement(connection.prepare(sql)),
    close: () => connection.close(),
  };
}

function adaptScratchStatement(statement: StatementSyncInstance): ScratchStatement {
  const reads = statement.columns().length > 0;
  if (reads) statement.setReturnArrays(true);
  return {
    run: (...values) => statement.run(...values).changes,
    first: (...values) => statement.get(...values) as ScratchValue[] | undefined,
    all: <R>(...values: ScratchValue[]) => statement.all(...values) as R[],
  };
}
