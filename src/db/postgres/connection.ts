import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultQueryExecutor,
  DummyDriver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { isConnectionLost, isStalePlan, rethrowTranslated, translatePostgresError } from './errors.ts';
import type { Semaphore } from '../../lib/semaphore.ts';
import { type AbortState, QueryBuilder, throwIfAborted } from '../database.ts';

const MAX_NAMED_STATEMENTS = 500;
/** Longer statements contain a list of rows, and are rarely repeated. */
const MAX_NAMED_LENGTH = 3_000;
/** PostgreSQL plans a statement that it has prepared for lists of ten values. With longer lists, it plans each time. */
const MAX_NAMED_LIST = 200;

/** A pooled connection that prepares repeated statements once, each under a name for its text. */
export interface PostgresConnection {
  /**
   * Sends a statement. Statements of the same turn of the event loop leave in one packet.
   * @throws StorageError when the server is not available
   */
  run(text: string, values?: readonly unknown[]): Promise<pg.QueryResult>;
  /** Makes `release` close the connection. */
  discard(): void;
  /** Returns the connection to the pool, or closes it if it is no longer usable. */
  release(): void;
}

/**
 * Call once a pool: its connections share the names of statements.
 * @param permits as many as the pool has connections. Callers wait for a permit, as the pool's own timeout is the one
 *   for connecting to the server
 * @returns a function that takes a connection out of the pool
 */
export function createConnectionAcquirer(
  pool: pg.Pool,
  permits: Semaphore,
): () => Promise<PostgresConnection> {
  const names = new LRUCache<string, string>({ max: MAX_NAMED_STATEMENTS });
  let count = 0;
  const nameOf = (text: string): string => {
    let name = names.get(text);
    if (name === undefined) {
      name = `assay_${(count += 1)}`;
      names.set(text, name);
    }
    return name;
  };
  return async () => {
    await permits.acquire();
    const client = await pool.connect().catch((error: unknown) => {
      permits.release();
      return rethrowTranslated(error);
    });
    let lost: unknown;
    let discarded = false;
    return {
      run(text, values = []) {
        // A rollback would only wait behind the query that timed out.
        if (lost !== undefined) return Promise.reject(lost);
        corkUntilNextTick(client.connection.stream);
        const hasLongList = values.some((value) => Array.isArray(value) && value.length > MAX_NAMED_LIST);
        const statement =
          values.length === 0 || text.length > MAX_NAMED_LENGTH || hasLongList
            ? { text, values: [...values] }
            : { name: nameOf(text), text, values: [...values] };
        return client.query(statement).catch((error: unknown) => {
          const translated = translatePostgresError(error);
          if (isConnectionLost(error)) lost = translated;
          // The pool's other connections have stale plans too. New names avoid them.
          if (isStalePlan(translated)) names.clear();
          throw translated;
        });
      },
      discard: () => void (discarded = true),
      // A connection with an open transaction never returns to the pool.
      release() {
        client.release(discarded || lost !== undefined || client.getTransactionStatus() !== 'I');
        permits.release();
      },
    };
  };
}

/** Sends everything written to the stream in this turn of the event loop in one packet. */
function corkUntilNextTick(stream: pg.Connection['stream']): void {
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Converts a driver result to Kysely's. */
export function toQueryResult<R>({ command, rowCount, rows }: pg.QueryResult): QueryResult<R> {
  return ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command)
    ? { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) }
    : { rows: rows as R[] };
}

const dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};
const driver = new DummyDriver();
const compiler = new PostgresQueryCompiler();
const adapter = new PostgresAdapter();

/** @returns a query builder that runs its queries on `provider`; it can neither stream nor begin a transaction */
export function createQueryBuilder(provider: ConnectionProvider): QueryBuilder {
  const executor = new DefaultQueryExecutor(compiler, adapter, provider);
  return new QueryBuilder('postgres', { config: { dialect }, dialect, driver, executor });
}

/** Runs each query on a connection of its own. Throws OperationAborted once the signal is aborted. */
export function connectionPerQuery(
  connect: () => Promise<PostgresConnection>,
  signal?: AbortState,
): ConnectionProvider {
  return {
    async provideConnection(consumer) {
      throwIfAborted(signal);
      const connection = await connect();
      try {
        throwIfAborted(signal);
        return await consumer({
          executeQuery: async <R>(query: CompiledQuery) =>
            toQueryResult<R>(await connection.run(query.sql, query.parameters)),
          streamQuery,
        });
      } finally {
        connection.release();
      }
    },
  };
}

export const streamQuery: DatabaseConnection['streamQuery'] = () => {
  throw new TypeError('Queries do not stream.');
};
