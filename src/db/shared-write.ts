import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database, Transaction } from './engine.ts';

/** Items written in one unit of work, so that others need not wait long. */
const MAX_ITEMS = 200;

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Writes what requests bring at the same time in one unit of work, so that each costs a row and not a transaction. While
 * one unit is written, those that come wait for the next.
 */
export class SharedWrite<Item, Result> {
  readonly #db: Database;
  readonly #unit: (tx: Transaction, items: readonly Item[]) => Promise<readonly Result[]>;
  #waiting: Waiting<Item, Result>[] = [];
  #running = false;

  /**
   * @param unit writes the items and returns what came of each, in their order. It throws only what concerns all of them:
   *   then none is written
   */
  constructor(db: Database, unit: (tx: Transaction, items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#db = db;
    this.#unit = unit;
  }

  /** @returns what came of the item, once that is durable; throws what `Database.write` throws */
  write(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      await this.#gather();
      let taken: Waiting<Item, Result>[] = [];
      try {
        const results = await this.#db.write((tx) => {
          // As late as can be, so that whoever came until now is in it; the same ones when it is run again.
          if (taken.length === 0) taken = this.#waiting.splice(0, MAX_ITEMS);
          return this.#unit(
            tx,
            taken.map(({ item }) => item),
          );
        });
        taken.forEach(({ resolve }, index) => resolve(results[index] as Result));
      } catch (error) {
        for (const { reject } of taken.length > 0 ? taken : this.#waiting.splice(0)) reject(error);
      }
    }
    this.#running = false;
  }

  /** Waits as long as each turn of the event loop brings more: under load, fewer and larger units are faster for all. */
  async #gather(): Promise<void> {
    let before: number;
    do {
      before = this.#waiting.length;
      await nextTurn();
    } while (this.#waiting.length > before && this.#waiting.length < MAX_ITEMS);
  }
}
