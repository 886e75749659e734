import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { type CompiledQuery, Kysely, type QueryResult, SqliteDialect } from 'kysely';
import {
  type AbortState,
  type Database,
  type DatabaseConfig,
  type ReadConnection,
  type Transaction,
  StorageError,
  throwIfAborted,
} from '../engine.ts';
import { GroupCommit } from './group-commit.ts';
import { isCurrent, migrate } from '../migrate.ts';
import type { Tables } from '../schema.ts';
import { CHECKPOINT_FRAMES, WalCheckpointer } from './wal-checkpointer.ts';
import { EventLoopBudget, YieldingSqliteDialect } from './yielding-dialect.ts';
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

/** Of the connection of a thread, in KiB: what lists read, they mostly read once. */
const WORKER_PAGE_CACHE_KIB = 8 * 1024;

/**
 * Opens `assay.db` in the data folder: one connection writes, another, read-only, answers what is short, and those of
 * threads what may take long.
 */
export async function openSqlite(config: DatabaseConfig): Promise<Database> {
  mkdirSync(config.dataDirectory, { recursive: true, mode: 0o700 });
  const path = join(config.dataDirectory, 'assay.db');
  // SQLite gives the log beside it the rights of the database. A file that exists must not be opened and closed here:
  // that would drop the locks which another connection of this process has on it.
  if (!existsSync(path)) createPrivateFile(path);
  const writer = new DatabaseSync(path, { timeout: config.timeout, enableForeignKeyConstraints: true });
  writer.exec('pragma journal_mode = wal');
  // What one connection has not waited for is in the same log, before what the next one does wait for.
  writer.exec(`pragma synchronous = ${config.relaxedDurability === true ? 'normal' : 'full'}`);
  const checkpoints =
    config.workerDirectory &&
    new WalCheckpointer(new URL('checkpoint-thread.js', config.workerDirectory), {
      path,
      timeout: config.timeout,
    });
  // What the thread leaves, the writer copies: a log to which is written all the time would never begin anew.
  writer.exec(
    `pragma wal_autocheckpoint = ${checkpoints === undefined ? CHECKPOINT_FRAMES : 4 * CHECKPOINT_FRAMES}`,
  );
  const cacheSize = `pragma cache_size = -${(config.pageCache ?? 64) * 1024}`;
  writer.exec(cacheSize);
  writer.exec('pragma temp_store = memory');
  const reader = new DatabaseSync(path, { timeout: config.timeout, readOnly: true });
  reader.exec(cacheSize);
  reader.exec('pragma temp_store = memory');

  const statements = new StatementCache(writer);
  const pace = new EventLoopBudget();
  const write = new Kysely<Tables>({ dialect: new YieldingSqliteDialect({ database: statements }, pace) });
  const readStatements = new StatementCache(reader);
  const read = new Kysely<Tables>({ dialect: new SqliteDialect({ database: readStatements }) });

  const threads =
    config.workerDirectory &&
    new ReaderPool(new URL('reading-thread.js', config.workerDirectory), {
      path,
      cacheSize: WORKER_PAGE_CACHE_KIB,
      timeout: config.timeout,
    });
  const readLong = threads === undefined ? read : createPooledReader(threads);
  const abortableRead = (signal: AbortState | undefined) =>
    threads === undefined ? createAbortableReader(read, signal) : createPooledReader(threads, signal);

  const begin = () => beginImmediate(writer, config.timeout);
  const groupCommit = new GroupCommit({
    async begin() {
      await begin();
      pace.begin();
    },
    savepoint() {
      pace.nextTransaction();
      statements.run('savepoint unit');
    },
    releaseSavepoint: () => statements.run('release unit'),
    rollbackToSavepoint() {
      pace.nextTransaction();
      statements.run('rollback to unit');
      statements.run('release unit');
    },
    commit() {
      pace.nextTransaction();
      statements.run('commit');
      checkpoints?.onCommit();
    },
    rollback() {
      pace.nextTransaction();
      if (writer.isTransaction) statements.run('rollback');
    },
    inTransaction: () => writer.isTransaction,
    translate: translateSqliteError,
  });

  return {
    engine: 'sqlite',
    read,
    readLong,
    abortableRead,
    write: (unit, { large = false, signal } = {}) =>
      groupCommit.submit(() => unit(write as Transaction), large, signal),
    async isEmpty() {
      const table = "select name from sqlite_schema where type = 'table' and name = 'migrations'";
      return withTranslatedErrors(() => reader.prepare(table).get()) === undefined;
    },
    async migrate() {
      await begin();
      try {
        const names = await migrate('sqlite', {
          execute: async (sql) => writer.exec(sql),
          names: async (sql) =>
            writer
              .prepare(sql)
              .all()
              .map((row) => (row as { name: string }).name),
        });
        writer.exec('commit');
        return names;
      } catch (error) {
        if (writer.isTransaction) writer.exec('rollback');
        throw error;
      }
    },
    async check() {
      const rows = withTranslatedErrors(() => reader.prepare('select name from migrations').all()) as {
        name: string;
      }[];
      if (!isCurrent(rows.map((row) => row.name))) throw new StorageError('Migrations are not done yet.');
    },
    async backup(file) {
      copyDatabase(reader, resolve(file));
    },
    statistics() {
      const { waiting, ...commits } = groupCommit.statistics();
      return {
        ...commits,
        waiting: waiting + (threads?.waiting ?? 0),
        connections: 2 + (threads?.size ?? 0),
      };
    },
    async close() {
      await groupCommit.idle();
      if (!writer.isOpen) return;
      await threads?.close();
      await checkpoints?.close();
      statements.close();
      readStatements.close();
    },
  };
}

function createAbortableReader(read: ReadConnection, signal: AbortState | undefined): ReadConnection {
  const query = async (compiled: CompiledQuery): Promise<QueryResult<never>> => {
    throwIfAborted(signal);
    return (await read.executeQuery(compiled)) as QueryResult<never>;
  };
  return new Kysely<Tables>({ dialect: readOnlyDialect(query) });
}

function createPooledReader(threads: ReaderPool, signal?: AbortState): ReadConnection {
  const ask = async ({ sql, parameters }: CompiledQuery): Promise<QueryResult<never>> => {
    try {
      const { columns, rows } = await threads.query({ sql, parameters: toBindable(parameters) }, signal);
      // Which rows a query has is what Kysely knows.
      return { rows: rows.map(rowMapper(columns)) as never[] };
    } catch (error) {
      throw translateSqliteError(error);
    }
  };
  return new Kysely<Tables>({ dialect: readOnlyDialect(ask) });
}

/** Takes the write lock. Waits for another process without blocking this one's event loop. */
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
        throw new StorageError('Another process holds the database.', { cause: error });
      }
      await delay(pause);
    }
  }
}

/** Writes beside the target and renames at the end, so that a file under the target's name is always whole. */
function copyDatabase(reader: SqliteConnection, file: string): void {
  if (existsSync(file))
    throw new Error(`${file} exists already. Choose another name, or move it away first.`);
  const unfinished = `${file}.${process.pid}.part`;
  try {
    createPrivateFile(unfinished);
    reader.prepare('vacuum into ?').run(unfinished);
    syncPath(unfinished);
    renameSync(unfinished, file);
    syncPath(dirname(file));
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Creates an empty file that only its owner can read, whatever the folder allows. One that exists is left alone. */
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
