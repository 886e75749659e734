import { setTimeout as delay } from 'node:timers/promises';

/** Asked for together. */
const MAX_ITEMS = 1_000;

interface Waiting<Item, Answer> {
  item: Item;
  resolve(answer: Answer): void;
  reject(reason: unknown): void;
}

/**
 * A question about one item that is put for all items which wait, and only so often: however many come, the database has
 * the same few questions to answer. Whoever comes waits for it.
 */
export class BatchLoader<Item, Answer> {
  readonly #put: (items: readonly Item[]) => Promise<readonly Answer[]>;
  readonly #pause: number;
  #waiting: Waiting<Item, Answer>[] = [];
  #running = false;

  /**
   * @param put asks once, and answers in the order of the items
   * @param pause the least time between two questions, in milliseconds
   */
  constructor(put: (items: readonly Item[]) => Promise<readonly Answer[]>, pause: number) {
    this.#put = put;
    this.#pause = pause;
  }

  load(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      // Before the question and not after it, so that those who come at the same time are in it.
      await delay(this.#pause);
      const asked = this.#waiting.splice(0, MAX_ITEMS);
      try {
        const answers = await this.#put(asked.map(({ item }) => item));
        asked.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    this.#running = false;
  }
}
