import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { type CompiledQuery, type QueryResult, SqliteDialect } from 'kysely';
import {
  type AbortState,
  type Database,
  type DatabaseConfig,
  QueryBuilder,
  type ReadConnection,
  StorageError,
  throwIfAborted,
} from '../database.ts';
import { GroupCommit } from './group-commit.ts';
import { isMigrated, migrate } from '../migrate.ts';
import { CHECKPOINT_FRAMES, WalCheckpointer } from './wal-checkpointer.ts';
import { EventLoopBudget, SqliteTransaction } from './sqlite-transaction.ts';
import {
  toBindable,
  type SqliteConnection,
  isBusyError,
  rowMapper,
  StatementCache,
  translateSqliteError,
  withTranslatedErrors,
} from './statement-cache.ts';
import { readOnlyDialect, ReaderPool } from './reader-pool.ts';
import { createDataDirectory } from '../../lib/data-directory.ts';

/** KiB per worker. Small, as lists read most pages only once. */
const WORKER_PAGE_CACHE_KIB = 8 * 1024;

interface Connections {
  writer: SqliteConnection;
  reader: SqliteConnection;
  checkpointer: WalCheckpointer | undefined;
}

function openConnections(path: string, config: DatabaseConfig): Connections {
  // SQLite gives the log the permissions of the database file. An existing file must not be opened and closed here:
  // that would drop the locks that another connection of this process holds on it.
  if (!existsSync(path)) createPrivateFile(path);
  const writer = new DatabaseSync(path, { timeout: config.timeout, enableForeignKeyConstraints: true });
  writer.exec('pragma journal_mode = wal');
  // Writes without fsync precede the next durable ones in the same log.
  writer.exec(`pragma synchronous = ${config.relaxedDurability === true ? 'normal' : 'full'}`);
  const checkpointer =
    config.workerDirectory &&
    new WalCheckpointer(new URL('checkpoint-worker.js', config.workerDirectory), {
      path,
      timeout: config.timeout,
    });
  // Checkpoints of the worker do not restart a log that is written to all the time, so the writer takes one now and
  // then.
  writer.exec(
    `pragma wal_autocheckpoint = ${checkpointer === undefined ? CHECKPOINT_FRAMES : 4 * CHECKPOINT_FRAMES}`,
  );
  const cacheSize = `pragma cache_size = -${(config.pageCache ?? 64) * 1024}`;
  writer.exec(cacheSize);
  writer.exec('pragma temp_store = memory');
  const reader = new DatabaseSync(path, { timeout: config.timeout, readOnly: true });
  reader.exec(cacheSize);
  reader.exec('pragma temp_store = memory');
  return { writer, reader, checkpointer };
}

/**
 * Opens `assay.db` in the data folder: one connection writes, a read-only one runs short queries on the calling thread,
 * and those of worker threads run long queries.
 */
export async function openSqlite(config: DatabaseConfig): Promise<Database> {
  createDataDirectory(config.dataDirectory);
  const path = join(config.dataDirectory, 'assay.db');
  const { writer, reader, checkpointer } = openConnections(path, config);
  const statements = new StatementCache(writer);
  const budget = new EventLoopBudget();
  const readStatements = new StatementCache(reader);
  const read = new QueryBuilder('sqlite', { dialect: new SqliteDialect({ database: readStatements }) });

  const pool =
    config.workerDirectory &&
    new ReaderPool(new URL('reader-worker.js', config.workerDirectory), {
      path,
      cacheSize: WORKER_PAGE_CACHE_KIB,
      timeout: config.timeout,
    });
  const readLong = pool === undefined ? read : createPooledReader(pool);
  const abortableRead = (signal: AbortState | undefined) =>
    pool === undefined ? createAbortableReader(read, signal) : createPooledReader(pool, signal);

  const begin = () => beginImmediate(writer, config.timeout);
  const groupCommit = new GroupCommit({
    ...transactionStatements(writer, statements),
    async begin() {
      await begin();
      budget.restart();
    },
    commit() {
      statements.run('commit');
      checkpointer?.onCommit();
    },
  });

  return {
    engine: 'sqlite',
    read,
    readLong,
    abortableRead,
    write: (transaction, { large = false, signal } = {}) =>
      groupCommit.submit(
        async () => {
          const handle = new SqliteTransaction(statements, budget);
          try {
            return await transaction(handle.builder);
          } finally {
            handle.end();
          }
        },
        large,
        signal,
      ),
    async isEmpty() {
      const table = "select name from sqlite_schema where type = 'table' and name = 'migrations'";
      return withTranslatedErrors(() => reader.prepare(table).get()) === undefined;
    },
    async migrate() {
      await begin();
      return migrateSqlite(writer);
    },
    async check() {
      const rows = withTranslatedErrors(() => reader.prepare('select name from migrations').all()) as {
        name: string;
      }[];
      if (!isMigrated(rows.map((row) => row.name)))
        throw new StorageError('unavailable', 'Migrations have not been applied yet.');
    },
    async backup(file) {
      copyDatabase(reader, resolve(file));
    },
    statistics() {
      const { waiting, ...commits } = groupCommit.statistics();
      return {
        ...commits,
        waiting: waiting + (pool?.waiting ?? 0),
        connections: 2 + (pool?.size ?? 0),
      };
    },
    async close() {
      await groupCommit.whenIdle();
      if (!writer.isOpen) return;
      await pool?.close();
      await checkpointer?.close();
      readStatements.close();
      checkpointAtClose(writer);
      statements.close();
    },
  };
}

/** The statements of a group of transactions, each of which is a savepoint. */
const transactionStatements = (writer: SqliteConnection, statements: StatementCache) => ({
  savepoint: () => statements.run('savepoint member'),
  releaseSavepoint: () => statements.run('release member'),
  rollbackToSavepoint() {
    statements.run('rollback to member');
    statements.run('release member');
  },
  rollback() {
    if (writer.isTransaction) statements.run('rollback');
  },
  inTransaction: () => writer.isTransaction,
  translate: translateSqliteError,
});

/** Migrates in the transaction that is open, and ends it. @returns the names of the migrations that were applied */
async function migrateSqlite(writer: SqliteConnection): Promise<string[]> {
  try {
    const names = await migrate('sqlite', {
      execute: async (sql) => writer.exec(sql),
      query: async (sql) => writer.prepare(sql).all() as Record<string, string>[],
    });
    writer.exec('commit');
    return names;
  } catch (error) {
    if (writer.isTransaction) writer.exec('rollback');
    throw error;
  }
}

/**
 * Copies the WAL into the database file, so that the file alone is complete. SQLite does so when the last connection
 * closes, but the driver closes a connection only once its statements have been garbage-collected.
 */
function checkpointAtClose(writer: SqliteConnection): void {
  try {
    writer.exec('pragma busy_timeout = 0');
    writer.exec('pragma wal_checkpoint(truncate)');
  } catch {
    // Another process is using the database, or the disk is full. The WAL stays, and contains everything committed.
  }
}

function createAbortableReader(read: ReadConnection, signal: AbortState | undefined): ReadConnection {
  const query = async (compiled: CompiledQuery): Promise<QueryResult<never>> => {
    throwIfAborted(signal);
    return (await read.executeQuery(compiled)) as QueryResult<never>;
  };
  return new QueryBuilder('sqlite', { dialect: readOnlyDialect(query) });
}

function createPooledReader(pool: ReaderPool, signal?: AbortState): ReadConnection {
  const query = async ({ sql, parameters }: CompiledQuery): Promise<QueryResult<never>> => {
    try {
      const { columns, rows } = await pool.query({ sql, parameters: toBindable(parameters) }, signal);
      // Kysely knows the type of the rows.
      return { rows: rows.map(rowMapper(columns)) as never[] };
    } catch (error) {
      throw translateSqliteError(error);
    }
  };
  return new QueryBuilder('sqlite', { dialect: readOnlyDialect(query) });
}

/** Takes the write lock. Waits for other processes without blocking the event loop. */
async function beginImmediate(writer: SqliteConnection, timeout: number): Promise<void> {
  const deadline = Date.now() + timeout;
  writer.exec('pragma busy_timeout = 0');
  for (let pause = 1; ; pause = Math.min(pause * 2, 4)) {
    try {
      writer.exec('begin immediate');
      return;
    } catch (error) {
      if (!isBusyError(error)) throw error;
      if (Date.now() >= deadline) {
        throw new StorageError('unavailable', 'Another process has locked the database.', { cause: error });
      }
      await delay(pause);
    }
  }
}

/** Writes to a temporary file and renames it at the end, so that the target is never incomplete. */
function copyDatabase(reader: SqliteConnection, file: string): void {
  if (existsSync(file))
    throw new Error(`${file} already exists. Choose another name, or move the file away first.`);
  const partial = `${file}.${process.pid}.part`;
  try {
    createPrivateFile(partial);
    reader.prepare('vacuum into ?').run(partial);
    syncPath(partial);
    renameSync(partial, file);
    syncPath(dirname(file));
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Creates an empty file that only its owner can read. Leaves an existing file alone. */
function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
