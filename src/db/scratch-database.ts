import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';

export type SpoolValue = string | number | null;

/** A statement of a spool, prepared once. */
export interface SpoolStatement {
  /** @returns how many rows it changed */
  run(...values: SpoolValue[]): number;
  /** @returns the first row, its values in the order of the columns */
  first(...values: SpoolValue[]): SpoolValue[] | undefined;
  all<R extends readonly SpoolValue[]>(...values: SpoolValue[]): R[];
}

/** Tables for the time of one piece of work, on disk as far as they outgrow their cache. */
export interface SpoolFile {
  prepare(sql: string): SpoolStatement;
  close(): void;
}

/** KiB that stay in memory. */
const CACHE = 4 * 1024;

/** Opens a spool: a file without a name in the folder for temporary files, which the system takes away with the process. */
export function openSpoolFile(tables: readonly string[]): SpoolFile {
  const connection = new DatabaseSync('');
  connection.exec('pragma journal_mode = off');
  connection.exec('pragma synchronous = off');
  connection.exec(`pragma cache_size = -${CACHE}`);
  for (const table of tables) connection.exec(table);
  // Nothing of it is ever committed: nobody else reads it, and nothing of it is to last.
  connection.exec('begin');
  return {
    prepare: (sql) => adapt(connection.prepare(sql)),
    close: () => connection.close(),
  };
}

function adapt(statement: StatementSyncInstance): SpoolStatement {
  const reads = statement.columns().length > 0;
  if (reads) statement.setReturnArrays(true);
  return {
    run: (...values) => statement.run(...values).changes,
    first: (...values) => statement.get(...values) as SpoolValue[] | undefined,
    all: <R>(...values: SpoolValue[]) => statement.all(...values) as R[],
  };
}
