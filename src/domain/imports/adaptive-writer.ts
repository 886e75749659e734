import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Engine, Transaction } from '../../db/engine.ts';
import { analyzeGrownTables } from '../../db/postgres/analyze.ts';

/** What a unit of work is to take, in milliseconds; on PostgreSQL only who wants the same rows waits for it. */
const TARGET_MILLISECONDS: Readonly<Record<Engine, number>> = { sqlite: 50, postgres: 100 };
/** What others have between two. */
const PAUSE_BETWEEN = 4;

/** What imports fill, and look up for each row that they write. */
const GROWING_TABLES = [
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
const FIRST_ANALYZE = 500;

/** Undoes a unit of work that tells what it would have done. */
class DryRunRollback extends Error {
  readonly value: unknown;
  constructor(value: unknown) {
    super('rolled back');
    this.value = value;
  }
}

/** Writes what an import applies in units that leave room for others: as many things a unit as take some 50 ms. */
export class AdaptiveWriter {
  readonly #db: Database;
  readonly #signal: AbortSignal;
  readonly #dryRun: boolean;
  readonly #most: number;
  #size: number;
  #written = 0;
  #look = FIRST_ANALYZE;
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
  get batchSize(): number {
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
      const fitting = (things * TARGET_MILLISECONDS[this.#db.engine]) / taken;
      this.#size = Math.round(Math.min(Math.max(fitting, this.#size / 2, 10), this.#size * 2, this.#most));
    }
    this.#written += things;
    if (this.#written >= this.#look && !this.#dryRun) {
      this.#look = this.#written * 2;
      await this.#db.write((tx) => analyzeGrownTables(tx, GROWING_TABLES));
    }
    this.#pause = delay(PAUSE_BETWEEN);
    return value;
  }

  async #rolledBack<T>(unit: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.#db.write(async (tx) => {
        throw new DryRunRollback(await unit(tx));
      });
    } catch (error) {
      if (error instanceof DryRunRollback) return error.value as T;
      throw error;
    }
  }
}
