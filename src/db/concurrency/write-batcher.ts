import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AbortState,
  type Database,
  type Transaction,
  StorageError,
  OperationAborted,
} from '../engine.ts';

/** Items written in one unit of work, so that others need not wait long. */
const MAX_ITEMS = 200;

interface Pending<Item, Result> {
  signal: AbortState | undefined;
  item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/** Which items share units of work, and how much of them one may hold. */
export interface BatchOptions<Item> {
  /** Those of one lane wait for each other, and for nobody else. Absent, all are of one. */
  partitionOf?(item: Item): string;
  weightOf?(item: Item): number;
  /** A unit takes no more once it weighs so much. */
  maxWeight?: number;
}

/**
 * Writes what requests bring at the same time in one unit of work, so that each costs a row and not a transaction. While
 * one unit of a lane is written, those that come wait for the next.
 */
export class WriteBatcher<Item, Result> {
  readonly #db: Database;
  readonly #unit: (tx: Transaction, items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #sharing: BatchOptions<Item>;
  /** Those that wait, by lane; a lane is there as long as it runs. */
  readonly #lanes = new Map<string, Pending<Item, Result>[]>();

  /**
   * @param unit writes the items and returns what came of each, in their order. Where it throws with several, nothing is
   *   written, and each is tried by itself: so what is wrong with one is nobody else's
   */
  constructor(
    db: Database,
    unit: (tx: Transaction, items: readonly Item[]) => Promise<readonly Result[]>,
    sharing: BatchOptions<Item> = {},
  ) {
    this.#db = db;
    this.#unit = unit;
    this.#sharing = sharing;
  }

  /** @returns what came of the item, once that is durable; throws what `Database.write` throws */
  add(item: Item, signal?: AbortState): Promise<Result> {
    const key = this.#sharing.partitionOf?.(item) ?? '';
    return new Promise((resolve, reject) => {
      const one = { item, signal, resolve, reject };
      const lane = this.#lanes.get(key);
      if (lane !== undefined) return void lane.push(one);
      const begun = [one];
      this.#lanes.set(key, begun);
      void this.#run(key, begun);
    });
  }

  async #run(key: string, lane: Pending<Item, Result>[]): Promise<void> {
    try {
      while (lane.length > 0) await this.#writeNext(lane);
    } finally {
      // In the same turn as the last look at the lane: an item that is added later starts a lane of its own.
      this.#lanes.delete(key);
    }
  }

  async #writeNext(lane: Pending<Item, Result>[]): Promise<void> {
    await waitForMore(lane);
    let taken: Pending<Item, Result>[] = [];
    try {
      const results = await this.#db.write((tx) => {
        // As late as can be, so that whoever came until now is in it; the same ones when it is run again.
        if (taken.length === 0) {
          rejectAborted(lane);
          taken = lane.splice(0, this.#fitting(lane));
        }
        if (taken.length === 0) return Promise.resolve([]);
        return this.#unit(
          tx,
          taken.map(({ item }) => item),
        );
      });
      taken.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      if (taken.length > 1 && !(error instanceof StorageError)) await this.#writeEach(taken);
      else for (const { reject } of taken.length > 0 ? taken : lane.splice(0)) reject(error);
    }
  }

  async #writeEach(taken: readonly Pending<Item, Result>[]): Promise<void> {
    for (const { item, resolve, reject } of taken) {
      try {
        const [result] = await this.#db.write((tx) => this.#unit(tx, [item]));
        resolve(result as Result);
      } catch (error) {
        reject(error);
      }
    }
  }

  /** @returns how many of those who wait go into one unit: at least one */
  #fitting(lane: readonly Pending<Item, Result>[]): number {
    const { weightOf, maxWeight = Number.POSITIVE_INFINITY } = this.#sharing;
    let weight = 0;
    let count = 0;
    for (const { item } of lane) {
      if (count === MAX_ITEMS || (count > 0 && weight >= maxWeight)) break;
      weight += weightOf?.(item) ?? 0;
      count += 1;
    }
    return count;
  }
}

/** Waits as long as each turn of the event loop brings more: under load, fewer and larger units are faster for all. */
async function waitForMore(lane: readonly unknown[]): Promise<void> {
  let before: number;
  do {
    before = lane.length;
    await nextTurn();
  } while (lane.length > before && lane.length < MAX_ITEMS);
}

/** Removes the items whose callers no longer wait. */
function rejectAborted(lane: Pending<unknown, never>[]): void {
  for (let index = lane.length - 1; index >= 0; index -= 1) {
    if (lane[index]?.signal?.aborted !== true) continue;
    const [aborted] = lane.splice(index, 1);
    aborted?.reject(new OperationAborted('The request was aborted.'));
  }
}
