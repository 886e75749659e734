import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts';
import {
  type AbortState,
  type Database,
  OperationAborted,
  StorageError,
  type Transaction,
} from '../database.ts';

/** Limits the time for which a batch blocks other writers. */
const MAX_BATCH_SIZE = 200;

interface PendingWrite<Item, Result> {
  item: Item;
  signal: AbortState | undefined;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/** The items that share a transaction, and the maximum size of a transaction. */
export interface BatchOptions<Item> {
  /** Items of the same partition wait for each other; partitions do not. By default there is one partition. */
  partitionOf?(item: Item): string;
  weightOf?(item: Item): number;
  /** A batch that weighs this much accepts no further item. */
  maxWeight?: number;
}

/**
 * Batches concurrent writes in one transaction, so that each costs a row and not a transaction. While a batch of a
 * partition is being written, new items wait for the next one.
 */
export class WriteBatcher<Item, Result> {
  readonly #db: Database;
  readonly #writeItems: (tx: Transaction, items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #options: BatchOptions<Item>;
  /** The queue of each partition that is being written. */
  readonly #queues = new Map<string, PendingWrite<Item, Result>[]>();

  /**
   * @param writeItems returns the results in the order of the items. If it throws for a batch, the batch is rolled back
   *   and each item is written in a transaction of its own, so that an item fails only by its own error
   */
  constructor(
    db: Database,
    writeItems: (tx: Transaction, items: readonly Item[]) => Promise<readonly Result[]>,
    options: BatchOptions<Item> = {},
  ) {
    this.#db = db;
    this.#writeItems = writeItems;
    this.#options = options;
  }

  /** Resolves with the item's result once its transaction is durable. Throws the errors of `Database.write`. */
  add(item: Item, signal?: AbortState): Promise<Result> {
    const partition = this.#options.partitionOf?.(item) ?? '';
    return new Promise((resolve, reject) => {
      const pending = { item, signal, resolve, reject };
      const queue = this.#queues.get(partition);
      if (queue !== undefined) return void queue.push(pending);
      const started = [pending];
      this.#queues.set(partition, started);
      void this.#run(partition, started);
    });
  }

  async #run(partition: string, queue: PendingWrite<Item, Result>[]): Promise<void> {
    try {
      while (queue.length > 0) await this.#writeBatch(queue);
    } finally {
      // Deletes the queue in the turn that found it empty: an item added later starts a new queue.
      this.#queues.delete(partition);
    }
  }

  async #writeBatch(queue: PendingWrite<Item, Result>[]): Promise<void> {
    await waitForMore(queue);
    let batch: PendingWrite<Item, Result>[] = [];
    try {
      const results = await this.#db.write((tx) => {
        // Dequeue as late as possible, so that late items join. A retry writes the same batch.
        if (batch.length === 0) {
          rejectAborted(queue);
          batch = queue.splice(0, this.#batchSize(queue));
        }
        if (batch.length === 0) return Promise.resolve([]);
        return this.#writeItems(
          tx,
          batch.map(({ item }) => item),
        );
      });
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      if (batch.length > 1 && !(error instanceof StorageError)) await this.#writeEach(batch);
      else for (const { reject } of batch.length > 0 ? batch : queue.splice(0)) reject(error);
    }
  }

  async #writeEach(batch: readonly PendingWrite<Item, Result>[]): Promise<void> {
    for (const { item, resolve, reject } of batch) {
      try {
        const [result] = await this.#db.write((tx) => this.#writeItems(tx, [item]));
        resolve(result as Result);
      } catch (error) {
        reject(error);
      }
    }
  }

  /** @returns how many queued items fit into one batch: at least one */
  #batchSize(queue: readonly PendingWrite<Item, Result>[]): number {
    const { weightOf, maxWeight = Number.POSITIVE_INFINITY } = this.#options;
    let weight = 0;
    let count = 0;
    for (const { item } of queue) {
      if (count === MAX_BATCH_SIZE || (count > 0 && weight >= maxWeight)) break;
      weight += weightOf?.(item) ?? 0;
      count += 1;
    }
    return count;
  }
}

/**
 * Waits while each turn of the event loop adds items: under load, fewer and larger batches are faster for every caller.
 */
async function waitForMore(queue: readonly unknown[]): Promise<void> {
  let before: number;
  do {
    before = queue.length;
    await yieldToEventLoop();
  } while (queue.length > before && queue.length < MAX_BATCH_SIZE);
}

/** Removes the items whose callers no longer wait. */
function rejectAborted(queue: PendingWrite<unknown, never>[]): void {
  for (let index = queue.length - 1; index >= 0; index -= 1) {
    if (queue[index]?.signal?.aborted !== true) continue;
    const [aborted] = queue.splice(index, 1);
    aborted?.reject(new OperationAborted('The request was aborted.'));
  }
}
