import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import {
  type Database,
  type DatabaseConfig,
  type Transaction,
  Unavailable,
  WriteConflict,
} from './engine.ts';
import { isCurrent, migrate } from './migrate.ts';
import type { Tables } from './schema.ts';

const READ_CONNECTIONS = 8;
const WRITE_CONNECTIONS = 12;
const MAX_NAMED_STATEMENTS = 500;
/** A longer statement has a list of rows in it, and will hardly be sent again. */
const MAX_NAMED_LENGTH = 3_000;
const MAX_ATTEMPTS = 8;
/** How much longer than the engine's own limit a statement is waited for, before its connection counts as lost, in ms. */
const SILENCE = 2_000;
/** Names the advisory lock that migrations hold; any number will do that no one else uses. */
const MIGRATION_LOCK = 7_215_004_911;

/** Opens a PostgreSQL database: one pool that can only read, and one that writes. */
export async function openPostgres(config: DatabaseConfig & { databaseUrl: string }): Promise<Database> {
  const options: pg.PoolConfig = {
    connectionString: config.databaseUrl,
    statement_timeout: config.timeout,
    query_timeout: config.timeout + SILENCE,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 5_000,
    application_name: 'assay',
    types: { getTypeParser: parserOf },
  };
  const readPool = new pg.Pool({
    ...options,
    max: READ_CONNECTIONS,
    options: '-c default_transaction_read_only=on',
  });
  const writePool = new pg.Pool({
    ...options,
    max: WRITE_CONNECTIONS,
    // What has been answered is durable, whatever the role or the database has as its default.
    options: '-c synchronous_commit=on',
  });
  // A connection that breaks is replaced at its next use and fails the query that it runs; without listeners, on the
  // pool for an idle one and on itself for one in use, it would end the process as well.
  for (const pool of [readPool, writePool]) {
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
  }

  const read = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: namedStatements(readPool) }) });
  const write = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: namedStatements(writePool) }) });
  let commits = 0;

  async function attempt<T>(unit: (tx: Transaction) => Promise<T>): Promise<T> {
    const value = await write.transaction().execute((tx) => unit(tx as unknown as Transaction));
    commits += 1;
    return value;
  }

  return {
    engine: 'postgres',
    read,
    async write(unit) {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await attempt(unit);
        } catch (error) {
          const again = isSerializationFailure(error) || isOvertaken(error) || isStalePlan(error);
          if (!again || (attempts >= MAX_ATTEMPTS && !isSerializationFailure(error)))
            throw translatePostgresError(error);
          if (attempts >= MAX_ATTEMPTS)
            throw new WriteConflict('The write met others too often.', { cause: error });
          await delay(Math.random() * 2 ** attempts);
        }
      }
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
        throw new Unavailable('Migrations are not done yet.');
    },
    async backup() {
      throw new Error('assay backup copies a SQLite database. Use pg_dump for PostgreSQL.');
    },
    statistics: () => ({
      commits,
      transactions: commits,
      waiting: readPool.waitingCount + writePool.waitingCount,
      connections: readPool.totalCount + writePool.totalCount,
    }),
    async close() {
      // Kysely closes only a pool that it has used.
      await Promise.all([readPool.end(), writePool.end()]);
    },
  };
}

/** Integers of 64 bits arrive as text; every one that is stored here is exact as a number. */
const parserOf: pg.CustomTypesConfig['getTypeParser'] = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8
    ? Number
    : (pg.types.getTypeParser as (oid: number, format?: string) => never)(oid, format);

/** Wraps a pool so that a statement is planned once a connection, under a name that stands for its text. */
function namedStatements(pool: pg.Pool): PostgresPool {
  const names = new LRUCache<string, string>({ max: MAX_NAMED_STATEMENTS });
  let count = 0;
  const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const nameOf = (text: string): string => {
    let name = names.get(text);
    if (name === undefined) {
      name = `assay_${(count += 1)}`;
      names.set(text, name);
    }
    return name;
  };
  const wrap = (client: pg.PoolClient): PostgresPoolClient => {
    let lost: Error | undefined;
    // Kysely asks for cursors through the same method; nothing here streams from the database.
    const query = (text: unknown, values: readonly unknown[] = []) => {
      if (typeof text !== 'string') throw new TypeError('Cursors are not supported.');
      // A rollback would only wait behind the query that has no answer.
      if (lost !== undefined) return Promise.reject(lost);
      const statement =
        values.length === 0 || text.length > MAX_NAMED_LENGTH
          ? { text, values: [...values] }
          : { name: nameOf(text), text, values: [...values] };
      return client.query(statement).catch((error: unknown) => {
        const translated = translatePostgresError(error);
        if (translated instanceof Error && isLost(error)) lost = translated;
        // The pool's other connections have plans as old as this one's: new names let none of them be used again.
        if (isStalePlan(translated)) names.clear();
        throw translated;
      });
    };
    return {
      query: query as unknown as PostgresPoolClient['query'],
      release: () => client.release(lost !== undefined),
    };
  };
  return {
    async connect() {
      const client = await pool.connect().catch(rethrowTranslated);
      let wrapper = wrappers.get(client);
      if (wrapper === undefined) {
        wrapper = wrap(client);
        wrappers.set(client, wrapper);
      }
      return wrapper;
    },
    end: async () => undefined,
  };
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** 40001 and 40P01: the engine chose this transaction to give way. */
function isSerializationFailure(error: unknown): boolean {
  return error instanceof WriteConflict || ['40001', '40P01'].includes(codeOf(error));
}

/**
 * 23503 and 23505: a row that this unit refers to was deleted, or a name that it found free was taken, by a unit that
 * committed in between. Its second run sees that and answers by it; a violation that stays is a mistake of the unit.
 */
function isOvertaken(error: unknown): boolean {
  return ['23503', '23505'].includes(codeOf(error));
}

/** Whether the connection that an error came from is of no more use. */
function isLost(error: unknown): boolean {
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|08|57P|25006)/.test(codeOf(error)) ||
    isSilenceOrEnd(error) ||
    isPlanChange(error)
  );
}

/** 0A000: a table was altered since the connection planned the statement, which cannot be planned anew under its name. */
function isPlanChange(error: unknown): boolean {
  return codeOf(error) === '0A000' && error instanceof Error && error.message.includes('cached plan');
}

/** The same, as callers get it. */
function isStalePlan(error: unknown): boolean {
  return error instanceof Unavailable && isPlanChange(error.cause);
}

function isSilenceOrEnd(error: unknown): boolean {
  return (
    error instanceof Error && /Connection terminated|Query read timeout|not queryable/.test(error.message)
  );
}

/**
 * Connection trouble, shutdown, too many clients, timeouts, a server that no longer takes writes after a failover, and
 * old plans: none is the fault of the request.
 */
function translatePostgresError(error: unknown): unknown {
  const unavailable =
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN|08|53|57P|57014|55000|55P03|25006)/.test(
      codeOf(error),
    ) ||
    isSilenceOrEnd(error) ||
    isPlanChange(error) ||
    (error instanceof Error &&
      /timeout exceeded when trying to connect|timeout expired|Cannot use a pool/.test(error.message));
  return unavailable ? new Unavailable('The database cannot answer now.', { cause: error }) : error;
}

function rethrowTranslated(error: unknown): never {
  throw translatePostgresError(error);
}
