import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Semaphore } from '../../lib/semaphore.ts';
import {
  type AbortState,
  type Database,
  type DatabaseConfig,
  StorageError,
  throwIfAborted,
  type Transaction,
} from '../database.ts';
import { isMigrated, migrate } from '../migrate.ts';
import { createConnectionAcquirer, connectionPerQuery, createQueryBuilder } from './connection.ts';
import {
  isConstraintRace,
  isSerializationFailure,
  isStalePlan,
  rethrowTranslated,
  translatePostgresError,
} from './errors.ts';
import { PipelinedTransaction } from './pipelined-transaction.ts';

const READ_CONNECTIONS = 8;
const WRITE_CONNECTIONS = 12;
const MAX_ATTEMPTS = 8;
/** Milliseconds after the server's own statement timeout, after which the connection counts as lost. */
const QUERY_TIMEOUT_MARGIN = 2_000;
/** The advisory lock that serialises migrations: an arbitrary number. */
const MIGRATION_LOCK = 7_215_004_911;

type PostgresConfig = DatabaseConfig & { databaseUrl: string };

const connectionOptions = ({ databaseUrl, timeout }: PostgresConfig): pg.ClientConfig => ({
  connectionString: databaseUrl,
  statement_timeout: timeout,
  query_timeout: timeout + QUERY_TIMEOUT_MARGIN,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: 5_000,
  application_name: 'assay',
  types: { getTypeParser: typeParserOf },
});

function createPools(config: PostgresConfig): { readPool: pg.Pool; writePool: pg.Pool } {
  const options = connectionOptions(config);
  const readPool = new pg.Pool({
    ...options,
    max: READ_CONNECTIONS,
    // By default, the planner hashes what a subquery selects up to some 250,000 rows, and reads all of it for each row
    // beyond that (ADR 91).
    options: '-c default_transaction_read_only=on -c hash_mem_multiplier=16',
  });
  const writePool = new pg.Pool({
    ...options,
    max: WRITE_CONNECTIONS,
    pipeline: true,
    // Overrides the defaults of the role and the database, so that responses imply durability. Writes with relaxed
    // durability precede the next durable ones in the same log. Only `begin read write` can write: the statements
    // pipelined behind a `begin` that fails must not run outside a transaction.
    options: `-c synchronous_commit=${config.relaxedDurability === true ? 'off' : 'on'} -c default_transaction_read_only=on`,
  });
  // A broken connection fails its query and is replaced. Without these listeners, it would also end the process: the
  // pool reports idle connections, a client reports itself.
  for (const pool of [readPool, writePool]) {
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
  }
  return { readPool, writePool };
}

/** Opens a PostgreSQL database with two pools: one read-only, one for writes. */
export async function openPostgres(config: PostgresConfig): Promise<Database> {
  const { readPool, writePool } = createPools(config);
  const readPermits = connectionPermits(READ_CONNECTIONS, config.timeout);
  const writePermits = connectionPermits(WRITE_CONNECTIONS, config.timeout);
  const acquireReader = createConnectionAcquirer(readPool, readPermits);
  const read = createQueryBuilder(connectionPerQuery(acquireReader));
  const connect = createConnectionAcquirer(writePool, writePermits);
  let commits = 0;

  async function attempt<T>(
    run: (tx: Transaction) => Promise<T>,
    signal: AbortState | undefined,
  ): Promise<T> {
    const connection = await connect();
    try {
      throwIfAborted(signal);
      const transaction = new PipelinedTransaction(connection);
      let value: T;
      try {
        value = await run(transaction.builder);
      } catch (error) {
        // If this fails, the connection is lost, and the server rolls back.
        await transaction.rollback().catch(() => undefined);
        throw error;
      }
      await transaction.commit();
      commits += 1;
      return value;
    } finally {
      connection.release();
    }
  }

  return {
    engine: 'postgres',
    read,
    readLong: read,
    abortableRead: (signal) => createQueryBuilder(connectionPerQuery(acquireReader, signal)),
    write: (run, { signal } = {}) => repeatOnConflict(() => attempt(run, signal)),
    async isEmpty() {
      const { rows } = await readPool
        .query<{ is: boolean }>("select to_regclass('migrations') is null as is")
        .catch(rethrowTranslated);
      return rows[0]?.is === true;
    },
    migrate: () => migratePostgres(config),
    async check() {
      const result = await readPool
        .query<{ name: string }>('select name from migrations')
        .catch(rethrowTranslated);
      if (!isMigrated(result.rows.map((row) => row.name)))
        throw new StorageError('unavailable', 'Migrations have not been applied yet.');
    },
    async backup() {
      throw new Error('assay backup copies SQLite databases only. Use pg_dump for PostgreSQL.');
    },
    statistics: () => ({
      commits,
      transactions: commits,
      waiting: readPermits.waiting + writePermits.waiting,
      connections: readPool.totalCount + writePool.totalCount,
    }),
    async close() {
      await Promise.all([readPool.end(), writePool.end()]);
    },
  };
}

/** Runs a transaction again if it conflicted with others. @throws StorageError after too many conflicts */
async function repeatOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isRetryable = isSerializationFailure(error) || isConstraintRace(error) || isStalePlan(error);
      if (!isRetryable || (attempts >= MAX_ATTEMPTS && !isSerializationFailure(error)))
        throw translatePostgresError(error);
      if (attempts >= MAX_ATTEMPTS)
        throw new StorageError('conflict', `The write conflicted with others ${attempts} times.`, {
          cause: error,
        });
      await delay(Math.random() * 2 ** attempts);
    }
  }
}

/** Migrates in one transaction, one instance at a time. @returns the names of the migrations that were applied */
async function migratePostgres(config: PostgresConfig): Promise<string[]> {
  // A migration, or the wait for that of another instance, may take longer than the request timeout.
  const client = new pg.Client({ ...connectionOptions(config), query_timeout: 0 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin');
    await client.query('set local statement_timeout = 0');
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const names = await migrate('postgres', {
      execute: async (statement) => void (await client.query(statement)),
      query: async (statement) => (await client.query<Record<string, string>>(statement)).rows,
    });
    await client.query('commit');
    return names;
  } catch (error) {
    throw translatePostgresError(error);
  } finally {
    // Closing the connection rolls back.
    await client.end();
  }
}

function connectionPermits(permits: number, timeout: number): Semaphore {
  return new Semaphore({
    permits,
    timeout,
    createError: () => new StorageError('busy', 'Every connection to the database is in use.'),
  });
}

/** Parses 64-bit integers as numbers: every stored one is exact. */
const typeParserOf: pg.CustomTypesConfig['getTypeParser'] = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8
    ? Number
    : // Its types list the ids of built-in types only, and the server sends any.
      (pg.types.getTypeParser as (oid: number, format?: string) => never)(oid, format);
