import type { Kysely } from 'kysely';
import type { Tables } from './schema.ts';

export type Engine = 'sqlite' | 'postgres';

declare const writable: unique symbol;

/** A connection that can only read: what a reading function takes. */
export type ReadConnection = Pick<Kysely<Tables>, 'selectFrom' | 'executeQuery' | 'getExecutor'>;

/** A connection inside a unit of work: what a writing function takes. Only `Database.write` makes one. */
export type Transaction = Kysely<Tables> & { readonly [writable]: true };

export interface DatabaseConfig {
  /** `postgres://…`; absent means SQLite in `dataDirectory`. */
  databaseUrl?: string | undefined;
  dataDirectory: string;
  /** The longest that one statement may run on PostgreSQL, and that a write waits for the lock on SQLite, in ms. */
  timeout: number;
  /** How many MiB of pages each of SQLite's two connections keeps in memory; 64 unless told. */
  pageCache?: number | undefined;
  /**
   * What is written here is durable with the next commit of anyone to whom this is not said, and not yet when `write`
   * resolves: for work that is begun again as a whole after a crash, and whose end somebody else writes down (ADR 69).
   */
  relaxedDurability?: boolean | undefined;
  /** The folder of the modules, built, that threads begin with. Without it SQLite reads in this one alone. */
  workerDirectory?: URL | undefined;
}

export interface DatabaseStatistics {
  /** Durable commits since the process started. */
  commits: number;
  /** Units of work in them; more than `commits` where units shared one. */
  transactions: number;
  /** Units of work, or requests for a connection, that wait now. */
  waiting: number;
  /** Connections that are open now. */
  connections: number;
}

/** An `AbortSignal`, or anything that says the same: creating a signal for each request would take 8 µs of it. */
export type AbortState = Pick<AbortSignal, 'aborted'>;

/** One database of either engine. */
export interface Database {
  readonly engine: Engine;
  /** Sees durable data only, never an open transaction. */
  readonly read: ReadConnection;
  /** The same for statements that may take long: on SQLite threads answer them, so that they hold no event loop. */
  readonly readLong: ReadConnection;
  /** The same, but statements that have not begun when the signal is aborted throw OperationAborted. */
  abortableRead(signal: AbortState | undefined): ReadConnection;
  /**
   * Runs a unit of work and resolves once it is durable, or with `durableLater` committed. The unit is run again as a whole when the engine asks for
   * it, so it changes nothing but the database and waits for nothing else.
   * @throws Unavailable when the engine cannot take it now, WriteConflict when others were always faster; whatever
   *   the unit throws, with nothing changed
   * @param options `large`: it changes thousands of rows, and so is to share no transaction that others have begun;
   *   `signal`: a transaction that has not begun when it is aborted throws OperationAborted
   */
  write<T>(unit: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** @returns whether it has no tables yet: no migration was ever applied */
  isEmpty(): Promise<boolean>;
  /** Applies missing migrations and returns their names. */
  migrate(): Promise<string[]>;
  /**
   * Resolves when the database answers, is migrated and takes writes; throws otherwise.
   * @param now in milliseconds since 1970
   */
  check(now: number): Promise<void>;
  /**
   * Copies the database, consistently and while it is written to, into a new file. SQLite only.
   * @throws Error on PostgreSQL, which has its own tools for it
   */
  backup(file: string): Promise<void>;
  statistics(): DatabaseStatistics;
  close(): Promise<void>;
}

export interface WriteOptions {
  large?: boolean | undefined;
  signal?: AbortState | undefined;
}

/** The caller no longer waits for the result, and nothing was begun. */
export class OperationAborted extends Error {
  override name = 'OperationAborted';
}

/** @throws OperationAborted if the signal is aborted */
export function throwIfAborted(signal: AbortState | undefined): void {
  if (signal?.aborted === true) throw new OperationAborted('The request was aborted.');
}

/** The engine cannot answer now, through no fault of the caller's: worth another try later. */
export class StorageError extends Error {
  override name = 'Unavailable';
}

/** Others keep it too busy: it may well answer them meanwhile. */
export class DatabaseBusy extends StorageError {
  override name = 'Busy';
}

/**
 * Others changed the same rows, again and again. A unit of work that finds what it has read replaced may throw it
 * as well: it is then run again, as when the engine finds out.
 */
export class WriteConflict extends StorageError {
  override name = 'WriteConflict';
}
