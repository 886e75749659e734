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
import { type AbortState, DatabaseBusy, StorageError, OperationAborted } from '../engine.ts';
import type { ResultMessage, QueryMessage, ReaderWorkerData } from './reader-worker.ts';

/** So many: one statement that takes long leaves a thread to the others. */
const MAX_WORKERS = 2;
/** Statements that wait for a thread; more are refused. */
const MAX_WAITING = 1_000;
/** In MiB: what a thread makes is soon handed over. */
const YOUNG_GENERATION_MIB = 8;

interface PendingQuery {
  signal: AbortState | undefined;
  message: NonNullable<QueryMessage>;
  resolve(answer: Extract<ResultMessage, { rows: unknown }>): void;
  reject(reason: unknown): void;
}

/** An error of the driver, as its thread told it. */
class WorkerError extends Error {
  readonly code: string;
  constructor({ message, code, stack }: Extract<ResultMessage, { failure: unknown }>['failure']) {
    super(message);
    this.code = code ?? '';
    if (stack !== undefined) this.stack = stack;
  }
}

/**
 * Threads that answer statements for a process, so that none of them holds its event loop. They are started when they are
 * needed, stay until `close`, keep no process alive, and are replaced when they die.
 */
export class ReaderPool {
  readonly #url: URL;
  readonly #data: ReaderWorkerData;
  /** Each thread with what it answers now. */
  readonly #threads = new Map<Worker, PendingQuery | undefined>();
  readonly #waiting = new Set<PendingQuery>();
  #closed = false;

  /** @param url of the module `reading-thread`, built */
  constructor(url: URL, data: ReaderWorkerData) {
    this.#url = url;
    this.#data = data;
  }

  get size(): number {
    return this.#threads.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * @param question whose parameters the driver can bind
   * @throws Busy when too many wait, Unavailable when the thread ends before it answers, what the driver throws
   */
  query(
    question: NonNullable<QueryMessage>,
    signal?: AbortState,
  ): Promise<Extract<ResultMessage, { rows: unknown }>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new StorageError('The database is closed.');
      if (this.#waiting.size >= MAX_WAITING) throw new DatabaseBusy('Too many lists wait for the database.');
      this.#waiting.add({ message: question, signal, resolve, reject });
      this.#handOut();
    });
  }

  /** Lets the threads end what they answer now. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting) reject(new StorageError('The database is closed.'));
    this.#waiting.clear();
    await Promise.all(
      [...this.#threads.keys()].map(
        (thread) =>
          new Promise((resolve) => {
            thread.ref();
            thread.once('exit', resolve);
            thread.postMessage(null satisfies QueryMessage, []);
          }),
      ),
    );
  }

  #handOut(): void {
    for (const next of this.#waiting) {
      if (next.signal?.aborted === true) {
        this.#waiting.delete(next);
        next.reject(new OperationAborted('The request was aborted.'));
        continue;
      }
      const thread = this.#free();
      if (thread === undefined) return;
      this.#waiting.delete(next);
      this.#threads.set(thread, next);
      // Whoever waits for an answer keeps the process alive.
      thread.ref();
      thread.postMessage(next.message, []);
    }
  }

  #free(): Worker | undefined {
    for (const [thread, answers] of this.#threads) if (answers === undefined) return thread;
    return this.#threads.size < MAX_WORKERS ? this.#start() : undefined;
  }

  #start(): Worker {
    const thread = new Worker(this.#url, {
      workerData: this.#data,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    let reason: unknown;
    thread.on('message', (answer: ResultMessage) => {
      const asked = this.#threads.get(thread);
      this.#threads.set(thread, undefined);
      thread.unref();
      if (!this.#closed) this.#handOut();
      if ('failure' in answer) asked?.reject(new WorkerError(answer.failure));
      else asked?.resolve(answer);
    });
    thread.on('error', (error) => (reason = error));
    thread.on('exit', () => {
      const asked = this.#threads.get(thread);
      this.#threads.delete(thread);
      asked?.reject(new StorageError('The thread that reads has ended.', { cause: reason }));
      if (!this.#closed) this.#handOut();
    });
    this.#threads.set(thread, undefined);
    return thread;
  }
}

/** @returns what Kysely needs to ask threads; it only reads */
export function readOnlyDialect(ask: (query: CompiledQuery) => Promise<QueryResult<never>>): Dialect {
  const connection: DatabaseConnection = {
    executeQuery: ask,
    streamQuery(): never {
      throw new TypeError('Nothing here streams from the database.');
    },
  };
  const refuse = (): Promise<never> => Promise.reject(new TypeError('Nothing is changed here.'));
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
