import { Worker } from 'node:worker_threads';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type AbortState, OperationAborted, StorageError } from '../database.ts';
import type { QueryMessage, ReaderWorkerData, ResultMessage } from './reader-worker.ts';

/** Two, so that one slow statement leaves a worker to the others. */
const MAX_WORKERS = 2;
const MAX_WAITING = 1_000;
const MAX_WAITING_PER_ACCOUNT = 100;
/** MiB. Small, as workers soon hand their rows over. */
const YOUNG_GENERATION_MIB = 8;

interface PendingQuery {
  message: NonNullable<QueryMessage>;
  signal: AbortState | undefined;
  resolve(result: Extract<ResultMessage, { rows: unknown }>): void;
  reject(reason: unknown): void;
}

/** A driver error, as the worker reported it. */
class WorkerError extends Error {
  readonly code: string;
  constructor({ message, code, stack }: Extract<ResultMessage, { failure: unknown }>['failure']) {
    super(message);
    this.code = code ?? '';
    if (stack !== undefined) this.stack = stack;
  }
}

/**
 * Worker threads that run read-only statements, off the event loop. They start on demand, run until `close`, do not
 * keep the process alive while idle, and are replaced when they die.
 */
export class ReaderPool {
  readonly #url: URL;
  readonly #data: ReaderWorkerData;
  /** Each worker with the query that it is running. */
  readonly #workers = new Map<Worker, PendingQuery | undefined>();
  readonly #waiting = new Set<PendingQuery>();
  #closed = false;

  /** @param url of the built module `reader-worker` */
  constructor(url: URL, data: ReaderWorkerData) {
    this.#url = url;
    this.#data = data;
  }

  get size(): number {
    return this.#workers.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * @param message whose parameters the driver can bind
   * @throws StorageError when too many queries wait, or the worker dies; and what the driver throws
   */
  query(
    message: NonNullable<QueryMessage>,
    signal?: AbortState,
  ): Promise<Extract<ResultMessage, { rows: unknown }>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new StorageError('unavailable', 'The database is closed.');
      const { size } = this.#waiting;
      const ownWaiting = signal?.account == null ? 0 : this.#countWaiting(signal.account);
      if (size >= MAX_WAITING || ownWaiting >= MAX_WAITING_PER_ACCOUNT)
        throw new StorageError(
          'busy',
          `${size} queries are waiting for a reader, ${ownWaiting} of this account.`,
        );
      this.#waiting.add({ message, signal, resolve, reject });
      this.#dispatch();
    });
  }

  /** Waits for running queries, and rejects waiting ones. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting)
      reject(new StorageError('unavailable', 'The database is closed.'));
    this.#waiting.clear();
    await Promise.all(
      [...this.#workers.keys()].map(
        (worker) =>
          new Promise((resolve) => {
            worker.ref();
            worker.once('exit', resolve);
            worker.postMessage(null satisfies QueryMessage, []);
          }),
      ),
    );
  }

  #countWaiting(account: number): number {
    let count = 0;
    for (const { signal } of this.#waiting) if (signal?.account === account) count += 1;
    return count;
  }

  /** @returns the next query: the oldest of an account without a running one, else the oldest */
  #next(): PendingQuery | undefined {
    const running = new Set([...this.#workers.values()].map((query) => query?.signal?.account ?? undefined));
    let oldest: PendingQuery | undefined;
    for (const query of this.#waiting) {
      if (query.signal?.aborted === true) {
        this.#waiting.delete(query);
        query.reject(new OperationAborted('The request was aborted.'));
        continue;
      }
      oldest ??= query;
      const account = query.signal?.account;
      if (account == null || !running.has(account)) return query;
    }
    return oldest;
  }

  #dispatch(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const worker = this.#idleWorker();
      if (worker === undefined) return;
      this.#waiting.delete(next);
      this.#workers.set(worker, next);
      // A running query keeps the process alive.
      worker.ref();
      worker.postMessage(next.message, []);
    }
  }

  #idleWorker(): Worker | undefined {
    for (const [worker, query] of this.#workers) if (query === undefined) return worker;
    return this.#workers.size < MAX_WORKERS ? this.#start() : undefined;
  }

  #start(): Worker {
    const worker = new Worker(this.#url, {
      workerData: this.#data,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    let cause: unknown;
    worker.on('message', (result: ResultMessage) => {
      const query = this.#workers.get(worker);
      this.#workers.set(worker, undefined);
      worker.unref();
      if (!this.#closed) this.#dispatch();
      if ('failure' in result) query?.reject(new WorkerError(result.failure));
      else query?.resolve(result);
    });
    worker.on('error', (error) => (cause = error));
    worker.on('exit', () => {
      const query = this.#workers.get(worker);
      this.#workers.delete(worker);
      query?.reject(new StorageError('unavailable', 'The reader thread has exited.', { cause }));
      if (!this.#closed) this.#dispatch();
    });
    this.#workers.set(worker, undefined);
    return worker;
  }
}

/** @returns a Kysely dialect that runs queries by `query`, and neither writes nor streams */
export function readOnlyDialect(query: (query: CompiledQuery) => Promise<QueryResult<never>>): Dialect {
  const connection: DatabaseConnection = {
    executeQuery: query,
    streamQuery(): never {
      throw new TypeError('The reader pool does not stream.');
    },
  };
  const refuse = (): Promise<never> => Promise.reject(new TypeError('The reader pool is read-only.'));
  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(connection),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}
