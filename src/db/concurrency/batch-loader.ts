import { setTimeout as delay } from 'node:timers/promises';

const MAX_BATCH_SIZE = 1_000;

interface PendingLoad<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Loads items in batches, one at a time, with a pause before each: the rate of queries does not grow with the callers.
 */
export class BatchLoader<Item, Result> {
  readonly #load: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #pause: number;
  #pending: PendingLoad<Item, Result>[] = [];
  #running = false;

  /**
   * @param load returns the results in the order of the items
   * @param pause milliseconds before each batch
   */
  constructor(load: (items: readonly Item[]) => Promise<readonly Result[]>, pause: number) {
    this.#load = load;
    this.#pause = pause;
  }

  load(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ item, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#pending.length > 0) {
      // Pauses before the batch, so that concurrent callers join it.
      await delay(this.#pause);
      const batch = this.#pending.splice(0, MAX_BATCH_SIZE);
      try {
        const results = await this.#load(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = false;
  }
}
