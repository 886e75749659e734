import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts';
import { type AbortState, StorageError, throwIfAborted } from '../database.ts';

/** The operations that group commit needs of the one writing connection. */
export interface GroupCommitConnection {
  begin(): Promise<void>;
  savepoint(): void;
  releaseSavepoint(): void;
  rollbackToSavepoint(): void;
  commit(): void;
  rollback(): void;
  inTransaction(): boolean;
  /** Turns a driver error into a `StorageError` where it is one. */
  translate(error: unknown): unknown;
}

interface QueuedTransaction {
  /** Whether it must be the first of a group. */
  isLarge: boolean;
  /** If aborted before the transaction starts, the transaction does not run. */
  signal: AbortState | undefined;
  run(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

const MAX_GROUP_SIZE = 512;
const MAX_GROUP_MILLISECONDS = 20;

/**
 * Commits concurrent transactions in groups, so that each group costs one fsync, not each transaction. Transactions run
 * one after another, each but the first in a savepoint of its own: one that throws rolls back only itself. No
 * transaction resolves before the commit of its group has returned.
 */
export class GroupCommit {
  readonly #connection: GroupCommitConnection;
  #queue: QueuedTransaction[] = [];
  #running: Promise<void> | undefined;
  /** A rollback failed, so the connection may still have an open transaction. */
  #needsRollback = false;
  #commits = 0;
  #transactions = 0;

  constructor(connection: GroupCommitConnection) {
    this.#connection = connection;
  }

  /**
   * Queues a transaction. Resolves with its value once that is durable.
   * @param isLarge whether it changes so much that it must be the first of a group (ADR 60)
   */
  submit<T>(run: () => Promise<T>, isLarge = false, signal?: AbortState): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ isLarge, signal, run, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when no transaction is queued or running. */
  async whenIdle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  statistics(): { commits: number; transactions: number; waiting: number } {
    return { commits: this.#commits, transactions: this.#transactions, waiting: this.#queue.length };
  }

  async #run(): Promise<void> {
    // Transactions of the same turn of the event loop join the first group.
    await yieldToEventLoop();
    try {
      while (this.#queue.length > 0) {
        await this.#commitGroup();
        // Lets the process send the responses of this group and read requests before the next group starts.
        await yieldToEventLoop();
      }
    } finally {
      this.#running = undefined;
    }
  }

  async #commitGroup(): Promise<void> {
    const done: { transaction: QueuedTransaction; value: unknown }[] = [];
    try {
      if (this.#needsRollback) this.#rollback();
      await this.#connection.begin();
    } catch (error) {
      const reason = this.#connection.translate(error);
      for (const transaction of this.#queue.splice(0)) transaction.reject(reason);
      return;
    }
    const startedAt = performance.now();
    const isFull = () =>
      done.length >= MAX_GROUP_SIZE ||
      performance.now() - startedAt > MAX_GROUP_MILLISECONDS ||
      (done.length > 0 && this.#queue[0]?.isLarge === true);
    try {
      do {
        // Dequeue one at a time so that queued transactions survive a failed group.
        for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
          await this.#runTransaction(next, done);
          if (isFull()) break;
        }
        if (!isFull()) await yieldToEventLoop();
      } while (!isFull() && this.#queue.length > 0);
      this.#connection.commit();
    } catch (error) {
      const reason = this.#connection.translate(error);
      for (const { transaction } of done) transaction.reject(reason);
      try {
        this.#rollback();
      } catch {
        // The next group retries the rollback before it begins, and fails if that fails.
      }
      return;
    }
    this.#commits += 1;
    this.#transactions += done.length;
    for (const { transaction, value } of done) transaction.resolve(value);
  }

  #rollback(): void {
    this.#needsRollback = true;
    this.#connection.rollback();
    this.#needsRollback = false;
  }

  /** Runs one transaction. Throws only when the whole group is lost. */
  async #runTransaction(
    transaction: QueuedTransaction,
    done: { transaction: QueuedTransaction; value: unknown }[],
  ): Promise<void> {
    if (!this.#connection.inTransaction()) {
      transaction.reject(new StorageError('unavailable', 'The database rolled back the transaction.'));
      return;
    }
    try {
      throwIfAborted(transaction.signal);
    } catch (error) {
      transaction.reject(error);
      return;
    }
    // The first needs no savepoint, as nothing precedes it; a savepoint is expensive where many pages change.
    const isFirst = done.length === 0;
    try {
      if (!isFirst) this.#connection.savepoint();
      const value = await transaction.run();
      if (!isFirst) this.#connection.releaseSavepoint();
      done.push({ transaction, value });
    } catch (error) {
      transaction.reject(this.#connection.translate(error));
      // A full disk makes SQLite roll back everything, with the other transactions of the group.
      if (!this.#connection.inTransaction()) throw error;
      if (isFirst) {
        this.#rollback();
        await this.#connection.begin();
      } else this.#connection.rollbackToSavepoint();
    }
  }
}
