import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Engine, Transaction } from '../../db/engine.ts';
import { noteGrowth } from '../../db/postgres/analyze.ts';

/** What a unit of work is to take, in milliseconds; on PostgreSQL only who wants the same rows waits for it. */
const WANTED: Readonly<Record<Engine, number>> = { sqlite: 50, postgres: 100 };
/** What others have between two. */
const PAUSE = 4;

/** What imports fill, and look up for each row that they write. */
const GROWING = [
  'assets',
  'listing_assets',
  'ports',
  'port_counts',
  'port_events',
  'vulnerabilities',
  'vulnerability_assets',
  'scanner_findings',
  'import_coverage',
];
/** After so many things it is first seen whether those have grown, then each time that it is twice as many. */
const FIRST_LOOK = 500;

/** Undoes a unit of work that tells what it would have done. */
class RolledBack extends Error {
  readonly value: unknown;
  constructor(value: unknown) {
    super('rolled back');
    this.value = value;
  }
}

/** Writes what an import applies in units that leave room for others: as many things a unit as take some 50 ms. */
export class Units {
  readonly #db: Database;
  readonly #signal: AbortSignal;
  readonly #dryRun: boolean;
  readonly #most: number;
  #size: number;
  #written = 0;
  #look = FIRST_LOOK;
  /** Others have the time until then. */
  #pause: Promise<unknown> = Promise.resolve();

  /** @param options `dryRun`: every unit is rolled back; `size`: how many things the first unit has; `most`: the largest */
  constructor(db: Database, signal: AbortSignal, options: { dryRun: boolean; size: number; most: number }) {
    this.#db = db;
    this.#signal = signal;
    this.#dryRun = options.dryRun;
    this.#size = options.size;
    this.#most = options.most;
  }

  /** How many things the next unit is to have. */
  get size(): number {
    return this.#size;
  }

  /**
   * Runs a unit of work, some time after the last one, which is for others.
   * @param things how many it has
   * @throws the reason of the signal once that is aborted
   */
  async write<T>(things: number, unit: (tx: Transaction) => Promise<T>): Promise<T> {
    await this.#pause;
    this.#signal.throwIfAborted();
    let taken = 0;
    const timed = async (tx: Transaction): Promise<T> => {
      const started = performance.now();
      const value = await unit(tx);
      taken = performance.now() - started;
      return value;
    };
    const value = await (this.#dryRun ? this.#rolledBack(timed) : this.#db.write(timed));
    if (things >= this.#size / 2 && taken > 0) {
      const fitting = (things * WANTED[this.#db.engine]) / taken;
      this.#size = Math.round(Math.min(Math.max(fitting, this.#size / 2, 10), this.#size * 2, this.#most));
    }
    this.#written += things;
    if (this.#written >= this.#look && !this.#dryRun) {
      this.#look = this.#written * 2;
      await this.#db.write((tx) => noteGrowth(tx, GROWING));
    }
    this.#pause = delay(PAUSE);
    return value;
  }

  async #rolledBack<T>(unit: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.#db.write(async (tx) => {
        throw new RolledBack(await unit(tx));
      });
    } catch (error) {
      if (error instanceof RolledBack) return error.value as T;
      throw error;
    }
  }
}
