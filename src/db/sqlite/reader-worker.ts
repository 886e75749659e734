import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';

/**
 * A thread that answers statements over a read-only connection of its own, one after the other. It imports nothing but the
 * driver, so that it is there soon.
 */
export interface ReaderWorkerData {
  path: string;
  /** Of its connection, in KiB. */
  cacheSize: number;
  timeout: number;
}

/** A statement with its parameters; `null` ends the thread. */
export type QueryMessage = { sql: string; parameters: readonly unknown[] } | null;

/** One to each statement, in their order. `code` is the driver's, where it has failed. */
export type ResultMessage =
  | { columns: readonly string[]; rows: readonly (readonly unknown[])[] }
  | { failure: { message: string; code: string | undefined; stack: string | undefined } };

const MAX_PREPARED_STATEMENTS = 200;

function serve(port: NonNullable<typeof parentPort>, { path, cacheSize, timeout }: ReaderWorkerData): void {
  const connection = new DatabaseSync(path, { timeout, readOnly: true });
  connection.exec(`pragma cache_size = -${cacheSize}`);
  connection.exec('pragma temp_store = memory');
  const statements = new Map<string, { statement: StatementSyncInstance; columns: readonly string[] }>();
  const prepared = (sql: string) => {
    let found = statements.get(sql);
    if (found === undefined) {
      const statement = connection.prepare(sql);
      statement.setReturnArrays(true);
      found = { statement, columns: statement.columns().map(({ name }) => name) };
      const [oldest] = statements.keys();
      if (statements.size >= MAX_PREPARED_STATEMENTS && oldest !== undefined) statements.delete(oldest);
    } else statements.delete(sql);
    // What was used last stands last.
    statements.set(sql, found);
    return found;
  };
  const answerTo = ({ sql, parameters }: NonNullable<QueryMessage>): ResultMessage => {
    try {
      const { statement, columns } = prepared(sql);
      return { columns, rows: statement.all(...parameters) as unknown[][] };
    } catch (error) {
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
      return { failure: { message, code, stack } };
    }
  };
  port.on('message', (question: QueryMessage) => {
    if (question !== null) {
      port.postMessage(answerTo(question), []);
      return;
    }
    statements.clear();
    connection.close();
    port.close();
  });
}

if (parentPort !== null) serve(parentPort, workerData as ReaderWorkerData);
