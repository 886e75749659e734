import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';

// Imports only the driver, so that the worker starts fast.

export interface ReaderWorkerData {
  path: string;
  /** Page cache of the worker's connection, in KiB. */
  cacheSize: number;
  timeout: number;
}

/** A statement with its parameters; `null` ends the worker. */
export type QueryMessage = { sql: string; parameters: readonly unknown[] } | null;

/** The result of one statement; results arrive in the order of the statements. `code` is the driver's. */
export type ResultMessage =
  | { columns: readonly string[]; rows: readonly (readonly unknown[])[] }
  | { failure: { message: string; code: string | undefined; stack: string | undefined } };

const MAX_PREPARED_STATEMENTS = 200;

/** Runs statements one after another on a read-only connection of its own. */
function serve(port: NonNullable<typeof parentPort>, { path, cacheSize, timeout }: ReaderWorkerData): void {
  const connection = new DatabaseSync(path, { timeout, readOnly: true });
  connection.exec(`pragma cache_size = -${cacheSize}`);
  connection.exec('pragma temp_store = memory');
  const statements = new Map<string, { statement: StatementSyncInstance; columns: readonly string[] }>();
  const prepare = (sql: string) => {
    let prepared = statements.get(sql);
    if (prepared === undefined) {
      const statement = connection.prepare(sql);
      statement.setReturnArrays(true);
      prepared = { statement, columns: statement.columns().map(({ name }) => name) };
      const [oldest] = statements.keys();
      if (statements.size >= MAX_PREPARED_STATEMENTS && oldest !== undefined) statements.delete(oldest);
    } else statements.delete(sql);
    // The map's order is the order of use, least recent first.
    statements.set(sql, prepared);
    return prepared;
  };
  const run = ({ sql, parameters }: NonNullable<QueryMessage>): ResultMessage => {
    try {
      const { statement, columns } = prepare(sql);
      return { columns, rows: statement.all(...parameters) as unknown[][] };
    } catch (error) {
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
      return { failure: { message, code, stack } };
    }
  };
  port.on('message', (message: QueryMessage) => {
    if (message !== null) {
      port.postMessage(run(message), []);
      return;
    }
    statements.clear();
    connection.close();
    port.close();
  });
}

if (parentPort !== null) serve(parentPort, workerData as ReaderWorkerData);
