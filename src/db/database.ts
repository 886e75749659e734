import { Kysely, type KyselyConfig, type KyselyProps } from 'kysely';
import type { Tables } from './schema.ts';

export type Engine = 'sqlite' | 'postgres';

declare const writable: unique symbol;

/** A read-only connection, the first parameter of functions that read. */
export type ReadConnection = Pick<QueryBuilder, 'engine' | 'selectFrom' | 'executeQuery' | 'getExecutor'>;

/**
 * A connection inside a transaction, the first parameter of functions that write. Only `Database.write` creates one.
 */
export type Transaction = QueryBuilder & { readonly [writable]: true };

/** Kysely, with the engine that its queries run on: helpers choose their SQL by it. */
export class QueryBuilder extends Kysely<Tables> {
  readonly engine: Engine;

  constructor(engine: Engine, config: KyselyConfig | KyselyProps) {
    super(config as KyselyConfig);
    this.engine = engine;
  }
}

export interface DatabaseConfig {
  /** `postgres://…`. Absent means SQLite in `dataDirectory`. */
  databaseUrl?: string | undefined;
  dataDirectory: string;
  /** Milliseconds: the limit of one statement on PostgreSQL, and of a write's wait for the lock on SQLite. */
  timeout: number;
  /** MiB of pages that each of SQLite's two connections caches. The default is 64. */
  pageCache?: number | undefined;
  /**
   * Commits without fsync. Another connection's next durable commit makes these writes durable too (ADR 69). For work
   * that restarts from the beginning after a crash and whose completion another connection records.
   */
  relaxedDurability?: boolean | undefined;
  /** The folder of the built worker modules. Without it, SQLite runs every query on the calling thread. */
  workerDirectory?: URL | undefined;
}

export interface DatabaseStatistics {
  /** Durable commits since the process started. */
  commits: number;
  /** Transactions in these commits; more than `commits` where transactions shared one. */
  transactions: number;
  /** Transactions and requests for a connection that are waiting now. */
  waiting: number;
  connections: number;
}

/** An `AbortSignal`, or an object with its state: creating a signal would add 8 µs to each request. */
export interface AbortState extends Pick<AbortSignal, 'aborted'> {
  /** The account that the work is for. Accounts take turns where they wait for each other. */
  readonly account?: number | null | undefined;
}

export interface WriteOptions {
  /** The transaction changes thousands of rows, so it never joins a group that has already started. */
  large?: boolean | undefined;
  /** A transaction that has not started when the signal is aborted throws `OperationAborted`. */
  signal?: AbortState | undefined;
}

/** A database of either engine. */
export interface Database {
  readonly engine: Engine;
  /** Sees durable data only, never an open transaction. */
  readonly read: ReadConnection;
  /** Like `read`, for slow statements. On SQLite, worker threads run them, off the event loop. */
  readonly readLong: ReadConnection;
  /** Like `readLong`. Statements that have not started when the signal is aborted throw `OperationAborted`. */
  abortableRead(signal: AbortState | undefined): ReadConnection;
  /**
   * Runs a transaction and resolves once it is durable, or with `relaxedDurability` once it is committed. The engine
   * may run `transaction` again from the start, so it must have no effect outside the database and must not wait for
   * anything else.
   * @throws StorageError if the engine cannot run it now, or retries did not resolve a conflict; also whatever
   *   `transaction` throws. The transaction is then rolled back
   */
  write<T>(transaction: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** @returns whether no migration has been applied yet */
  isEmpty(): Promise<boolean>;
  /** Applies missing migrations and returns their names. */
  migrate(): Promise<string[]>;
  /**
   * Resolves if the database answers, is migrated and accepts writes.
   * @param now in milliseconds since 1970
   * @throws StorageError otherwise
   */
  check(now: number): Promise<void>;
  /**
   * Writes a consistent copy of the database to a new file, while the database stays in use. SQLite only.
   * @throws Error on PostgreSQL, which has tools of its own for it
   */
  backup(file: string): Promise<void>;
  statistics(): DatabaseStatistics;
  close(): Promise<void>;
}

/**
 * A statement came after the end of its transaction, and did not run. The rule did not wait for all that it started.
 */
export class TransactionEnded extends Error {
  override name = 'TransactionEnded';

  constructor() {
    super('The transaction has ended. A rule must await every statement before it returns or throws.');
  }
}

/** The caller no longer waits for the result, and the operation had not started. */
export class OperationAborted extends Error {
  override name = 'OperationAborted';
}

/** @throws OperationAborted if the signal is aborted */
export function throwIfAborted(signal: AbortState | undefined): void {
  if (signal?.aborted === true) throw new OperationAborted('The request was aborted.');
}

/**
 * - `unavailable`: the database or the file store failed or cannot be reached
 * - `busy`: too many requests are waiting for it
 * - `conflict`: concurrent transactions kept changing the same rows
 */
export type StorageErrorCode = 'unavailable' | 'busy' | 'conflict';

/**
 * The database, or the store of attachments, cannot serve the request now. The request is not at fault; a retry may
 * succeed. A transaction that finds its input changed concurrently may throw a `conflict` itself: it is then retried.
 */
export class StorageError extends Error {
  override name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
