import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AbortState, StorageError, throwIfAborted } from '../engine.ts';

/** How the one writing connection is driven. */
export interface GroupCommitConnection {
  begin(): Promise<void>;
  savepoint(): void;
  releaseSavepoint(): void;
  /** Undoes everything since the savepoint. */
  rollbackToSavepoint(): void;
  commit(): void;
  rollback(): void;
  inTransaction(): boolean;
  /** Turns a driver's error into the one that callers know. */
  translate(error: unknown): unknown;
}

interface QueuedTransaction {
  /** Whether it begins a transaction, and shares none that others have begun. */
  isLarge: boolean;
  /** Once aborted, the transaction is not begun. */
  signal: AbortState | undefined;
  run(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

const MAX_GROUP_SIZE = 512;
const MAX_GROUP_MILLISECONDS = 20;

/**
 * Lets the units of work that wait at the same time share one durable commit, so that durability does not cost a
 * disk flush a unit. Units run one after another, each but the first in a savepoint of its own: one that throws undoes only
 * itself.
 * No unit is told of its success before the commit that holds it has returned.
 */
export class GroupCommit {
  readonly #connection: GroupCommitConnection;
  #waiting: QueuedTransaction[] = [];
  #running: Promise<void> | undefined;
  /** A rollback failed, so the transaction may still be open. */
  #unfinished = false;
  #commits = 0;
  #transactions = 0;

  constructor(connection: GroupCommitConnection) {
    this.#connection = connection;
  }

  /**
   * Runs `unit` in the next group. Resolves with its value once that is durable.
   * @param isLarge whether it changes so much that it is to be the first of a group (ADR 60)
   */
  submit<T>(unit: () => Promise<T>, isLarge = false, signal?: AbortState): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        isLarge,
        signal,
        run: unit,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing waits and nothing runs. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  statistics(): { commits: number; transactions: number; waiting: number } {
    return { commits: this.#commits, transactions: this.#transactions, waiting: this.#waiting.length };
  }

  async #run(): Promise<void> {
    // Requests that arrived in the same turn of the event loop join the first group.
    await nextTurn();
    try {
      while (this.#waiting.length > 0) {
        await this.#commitGroup();
        // What the group has made is answered, and others are, before the next one takes its time.
        await nextTurn();
      }
    } finally {
      this.#running = undefined;
    }
  }

  async #commitGroup(): Promise<void> {
    const done: { unit: QueuedTransaction; value: unknown }[] = [];
    try {
      if (this.#unfinished) this.#rollback();
      await this.#connection.begin();
    } catch (error) {
      const reason = this.#connection.translate(error);
      for (const unit of this.#waiting.splice(0)) unit.reject(reason);
      return;
    }
    const started = performance.now();
    const isFull = () =>
      done.length >= MAX_GROUP_SIZE ||
      performance.now() - started > MAX_GROUP_MILLISECONDS ||
      (done.length > 0 && this.#waiting[0]?.isLarge === true);
    try {
      do {
        // One by one: when the group is lost, those that have not begun are still there for the next.
        for (let unit = this.#waiting.shift(); unit !== undefined; unit = this.#waiting.shift()) {
          await this.#runUnit(unit, done);
          if (isFull()) break;
        }
        if (!isFull()) await nextTurn();
      } while (!isFull() && this.#waiting.length > 0);
      this.#connection.commit();
    } catch (error) {
      const reason = this.#connection.translate(error);
      for (const { unit } of done) unit.reject(reason);
      try {
        this.#rollback();
      } catch {
        // The next group tries again before it begins, and is refused when that fails as well.
      }
      return;
    }
    this.#commits += 1;
    this.#transactions += done.length;
    for (const { unit, value } of done) unit.resolve(value);
  }

  #rollback(): void {
    this.#unfinished = true;
    this.#connection.rollback();
    this.#unfinished = false;
  }

  /** Runs one unit; throws only when the whole group is lost. */
  async #runUnit(
    unit: QueuedTransaction,
    done: { unit: QueuedTransaction; value: unknown }[],
  ): Promise<void> {
    if (!this.#connection.inTransaction()) {
      unit.reject(new StorageError('The database gave up the transaction.'));
      return;
    }
    try {
      throwIfAborted(unit.signal);
    } catch (error) {
      unit.reject(error);
      return;
    }
    // Nothing else is lost with the first: it needs no savepoint, which costs much where a unit changes many pages.
    const isFirst = done.length === 0;
    try {
      if (!isFirst) this.#connection.savepoint();
      const value = await unit.run();
      if (!isFirst) this.#connection.releaseSavepoint();
      done.push({ unit, value });
    } catch (error) {
      unit.reject(this.#connection.translate(error));
      // An engine that ran out of room has rolled back everything, the other units with it.
      if (!this.#connection.inTransaction()) throw error;
      if (isFirst) {
        this.#rollback();
        await this.#connection.begin();
      } else this.#connection.rollbackToSavepoint();
    }
  }
}
