import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  type AbortState,
  type Database,
  type DatabaseConfig,
  type Transaction,
  StorageError,
  WriteConflict,
  throwIfAborted,
} from '../engine.ts';
import { isCurrent, migrate } from '../migrate.ts';
import { createConnectionAcquirer, connectionPerQuery, createQueryBuilder } from './connection.ts';
import {
  isConstraintRace,
  isSerializationFailure,
  isStalePlan,
  rethrowTranslated,
  translatePostgresError,
} from './errors.ts';
import { PipelinedTransaction } from './pipelined-transaction.ts';
import { Semaphore } from '../concurrency/semaphore.ts';

const READ_CONNECTIONS = 8;
const WRITE_CONNECTIONS = 12;
const MAX_ATTEMPTS = 8;
/** How much longer than the engine's own limit a statement is waited for, before its connection counts as lost, in ms. */
const QUERY_TIMEOUT_MARGIN = 2_000;
/** Names the advisory lock that migrations hold; any number will do that no one else uses. */
const MIGRATION_LOCK = 7_215_004_911;

/** Opens a PostgreSQL database: one pool that can only read, and one that writes. */
export async function openPostgres(config: DatabaseConfig & { databaseUrl: string }): Promise<Database> {
  const options: pg.PoolConfig = {
    connectionString: config.databaseUrl,
    statement_timeout: config.timeout,
    query_timeout: config.timeout + QUERY_TIMEOUT_MARGIN,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 5_000,
    application_name: 'assay',
    types: { getTypeParser: typeParserOf },
  };
  const readPool = new pg.Pool({
    ...options,
    max: READ_CONNECTIONS,
    options: '-c default_transaction_read_only=on',
  });
  const writePool = new pg.Pool({
    ...options,
    max: WRITE_CONNECTIONS,
    pipeline: true,
    // What has been answered is durable, whatever the role or the database has as its default; what is to be so later is
    // before it in the same log. Only a transaction that
    // says so writes: what is sent behind a `begin` that fails is not done by itself.
    options: `-c synchronous_commit=${config.relaxedDurability === true ? 'off' : 'on'} -c default_transaction_read_only=on`,
  });
  // A connection that breaks is replaced at its next use and fails the query that it runs; without listeners, on the
  // pool for an idle one and on itself for one in use, it would end the process as well.
  for (const pool of [readPool, writePool]) {
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
  }

  const readTurns = new Semaphore(READ_CONNECTIONS, config.timeout);
  const writeTurns = new Semaphore(WRITE_CONNECTIONS, config.timeout);
  const acquireReader = createConnectionAcquirer(readPool, readTurns);
  const read = createQueryBuilder(connectionPerQuery(acquireReader));
  const connect = createConnectionAcquirer(writePool, writeTurns);
  let commits = 0;

  async function attempt<T>(
    unit: (tx: Transaction) => Promise<T>,
    signal: AbortState | undefined,
  ): Promise<T> {
    const connection = await connect();
    try {
      throwIfAborted(signal);
      const work = new PipelinedTransaction(connection);
      let value: T;
      try {
        value = await unit(work.transaction);
      } catch (error) {
        // Where this fails, the connection is lost, which undoes as much.
        await work.rollback().catch(() => undefined);
        throw error;
      }
      await work.commit();
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
    async write(unit, { signal } = {}) {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await attempt(unit, signal);
        } catch (error) {
          const again = isSerializationFailure(error) || isConstraintRace(error) || isStalePlan(error);
          if (!again || (attempts >= MAX_ATTEMPTS && !isSerializationFailure(error)))
            throw translatePostgresError(error);
          if (attempts >= MAX_ATTEMPTS)
            throw new WriteConflict('The write met others too often.', { cause: error });
          await delay(Math.random() * 2 ** attempts);
        }
      }
    },
    async isEmpty() {
      const { rows } = await readPool
        .query<{ is: boolean }>("select to_regclass('migrations') is null as is")
        .catch(rethrowTranslated);
      return rows[0]?.is === true;
    },
    async migrate() {
      // A migration, and the wait for another instance's, may take longer than any request.
      const client = new pg.Client({ ...options, query_timeout: 0 });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('begin');
        await client.query('set local statement_timeout = 0');
        await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
        const names = await migrate('postgres', {
          execute: async (statement) => void (await client.query(statement)),
          names: async (statement) =>
            (await client.query<{ name: string }>(statement)).rows.map((row) => row.name),
        });
        await client.query('commit');
        return names;
      } catch (error) {
        throw translatePostgresError(error);
      } finally {
        // The end of the connection undoes what is not committed.
        await client.end();
      }
    },
    async check() {
      const result = await readPool
        .query<{ name: string }>('select name from migrations')
        .catch(rethrowTranslated);
      if (!isCurrent(result.rows.map((row) => row.name)))
        throw new StorageError('Migrations are not done yet.');
    },
    async backup() {
      throw new Error('assay backup copies a SQLite database. Use pg_dump for PostgreSQL.');
    },
    statistics: () => ({
      commits,
      transactions: commits,
      waiting: readTurns.waiting + writeTurns.waiting,
      connections: readPool.totalCount + writePool.totalCount,
    }),
    async close() {
      // Kysely closes only a pool that it has used.
      await Promise.all([readPool.end(), writePool.end()]);
    },
  };
}

/** Integers of 64 bits arrive as text; every one that is stored here is exact as a number. */
const typeParserOf: pg.CustomTypesConfig['getTypeParser'] = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8
    ? Number
    : (pg.types.getTypeParser as (oid: number, format?: string) => never)(oid, format);
