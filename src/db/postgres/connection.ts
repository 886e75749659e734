import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultQueryExecutor,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { type AbortState, throwIfAborted } from '../engine.ts';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { isConnectionLost, isStalePlan, rethrowTranslated, translatePostgresError } from './errors.ts';
import type { Tables } from '../schema.ts';
import type { Semaphore } from '../concurrency/semaphore.ts';

const MAX_NAMED_STATEMENTS = 500;
/** A longer statement has a list of rows in it, and will hardly be sent again. */
const MAX_NAMED_LENGTH = 3_000;

/** A connection of a pool, of which a statement that comes again is planned once, under a name that stands for its text. */
export interface PostgresConnection {
  /**
   * Sends a statement; those that are sent in the same turn of the event loop leave together.
   * @throws Unavailable when the server cannot answer now
   */
  run(text: string, values?: readonly unknown[]): Promise<pg.QueryResult>;
  /** Keeps the connection out of the pool when it is released. */
  discard(): void;
  /** Gives the connection back, or ends it when it is of no more use. */
  release(): void;
}

/**
 * @param turns as many as the pool has connections: who waits for one to be free waits there, as the pool's own limit is
 *   the one for reaching a server
 * @returns a function that takes a connection out of the pool; to be called once a pool, which keeps the names
 */
export function createConnectionAcquirer(pool: pg.Pool, turns: Semaphore): () => Promise<PostgresConnection> {
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
    await turns.acquire();
    const client = await pool.connect().catch((error: unknown) => {
      turns.release();
      return rethrowTranslated(error);
    });
    let lost: unknown;
    let discarded = false;
    return {
      run(text, values = []) {
        // A rollback would only wait behind the query that has no answer.
        if (lost !== undefined) return Promise.reject(lost);
        corkUntilNextTick(client.connection.stream);
        const statement =
          values.length === 0 || text.length > MAX_NAMED_LENGTH
            ? { text, values: [...values] }
            : { name: nameOf(text), text, values: [...values] };
        return client.query(statement).catch((error: unknown) => {
          const translated = translatePostgresError(error);
          if (isConnectionLost(error)) lost = translated;
          // The pool's other connections have plans as old as this one's: new names let none of them be used again.
          if (isStalePlan(translated)) names.clear();
          throw translated;
        });
      },
      discard: () => void (discarded = true),
      // Never back into the pool with a transaction open, whatever happened.
      release() {
        client.release(discarded || lost !== undefined || client.getTransactionStatus() !== 'I');
        turns.release();
      },
    };
  };
}

/** What is written to the stream until this turn of the event loop ends leaves in one packet. */
function corkUntilNextTick(stream: pg.Connection['stream']): void {
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** @returns what the query builder wants to know of an answer */
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

/** @returns a query builder whose queries run on what `provider` has; it can neither stream nor begin a transaction */
export function createQueryBuilder(provider: ConnectionProvider): Kysely<Tables> {
  const executor = new DefaultQueryExecutor(compiler, adapter, provider);
  return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor });
}

/** Runs each query on a connection of its own; none is begun once the signal is aborted. */
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
  throw new TypeError('Nothing here streams from the database.');
};
