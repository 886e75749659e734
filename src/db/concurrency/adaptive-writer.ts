import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Engine, Transaction } from '../database.ts';
import { sql } from 'kysely';

/** Target duration of a transaction, in milliseconds. On PostgreSQL only writers of the same rows wait for it. */
const TARGET_MILLISECONDS: Readonly<Record<Engine, number>> = { sqlite: 50, postgres: 100 };
/** Milliseconds between transactions, for other writers. */
const PAUSE_BETWEEN = 4;

/** Tables that imports fill and query for each row. */
const GROWING_TABLES = [
  'assets',
  'listing_assets',
  'ports',
  'port_counts',
  'port_events',
  'host_detections',
  'host_observations',
  'vulnerabilities',
  'vulnerability_assets',
  'scanner_findings',
  'detections',
  'scan_scopes',
  'asset_detections',
  'detected_assets',
];
/**
 * Statistics are checked after the first transaction, as many small reports may have gone before, then after so many
 * rows, and whenever their number has doubled.
 */
const FIRST_ANALYZE = 500;

/** Rolls back a dry-run transaction and carries its result. */
class DryRunRollback extends Error {
  readonly value: unknown;
  constructor(value: unknown) {
    super('rolled back');
    this.value = value;
  }
}

/**
 * Writes in transactions that adapt their size to a target duration, `TARGET_MILLISECONDS`, so that other writers are
 * not blocked.
 */
export class AdaptiveWriter {
  readonly #db: Database;
  readonly #signal: AbortSignal;
  readonly #dryRun: boolean;
  readonly #maxBatch: number;
  readonly #onWrite: () => void;
  #size: number;
  #written = 0;
  #nextAnalyze = 1;
  /** Ends when the next transaction may begin. */
  #pause: Promise<unknown> = Promise.resolve();

  /**
   * @param options `dryRun`: roll every transaction back; `size`: rows in the first transaction; `maxSize`: in the
   *   largest; `onWrite`: called after each transaction
   */
  constructor(
    db: Database,
    signal: AbortSignal,
    options: { dryRun: boolean; size: number; maxSize: number; onWrite?: () => void },
  ) {
    this.#db = db;
    this.#signal = signal;
    this.#dryRun = options.dryRun;
    this.#size = options.size;
    this.#maxBatch = options.maxSize;
    this.#onWrite = options.onWrite ?? (() => undefined);
  }

  get batchSize(): number {
    return this.#size;
  }

  /**
   * Runs one transaction, after a pause since the last.
   * @param rowCount number of rows in it
   * @throws the reason of the signal once it is aborted
   */
  async write<T>(rowCount: number, work: (tx: Transaction) => Promise<T>): Promise<T> {
    await this.#pause;
    this.#signal.throwIfAborted();
    let duration = 0;
    const timedWork = async (tx: Transaction): Promise<T> => {
      const started = performance.now();
      const value = await work(tx);
      duration = performance.now() - started;
      return value;
    };
    const value = await (this.#dryRun ? this.#writeAndRollBack(timedWork) : this.#db.write(timedWork));
    this.#onWrite();
    if (rowCount >= this.#size / 2 && duration > 0) {
      const fittingSize = (rowCount * TARGET_MILLISECONDS[this.#db.engine]) / duration;
      this.#size = Math.round(
        Math.min(Math.max(fittingSize, this.#size / 2, 10), this.#size * 2, this.#maxBatch),
      );
    }
    this.#written += rowCount;
    if (this.#written >= this.#nextAnalyze && !this.#dryRun) {
      this.#nextAnalyze = Math.max(FIRST_ANALYZE, this.#written * 2);
      await this.#db.write((tx) => analyzeGrownTables(tx, GROWING_TABLES));
    }
    this.#pause = delay(PAUSE_BETWEEN);
    return value;
  }

  async #writeAndRollBack<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.#db.write(async (tx) => {
        throw new DryRunRollback(await work(tx));
      });
    } catch (error) {
      if (error instanceof DryRunRollback) return error.value as T;
      throw error;
    }
  }
}

/** Smaller tables are fast under any plan; larger ones already have statistics that lead to a good one. */
const MIN_PAGES = 4;
const MAX_PAGES = 1_000;
/** How many times larger than the planner's statistics a table must be. */
const GROWTH_FACTOR = 4;

/**
 * Analyzes tables that have outgrown the statistics of PostgreSQL's planner. Statements and foreign key checks cache
 * their plans, and a plan made for a nearly empty table scans the whole table for each row (ADR 69). Skips tables that
 * another session is analyzing. Does nothing on SQLite.
 */
export async function analyzeGrownTables(tx: Transaction, tables: readonly string[]): Promise<void> {
  if (tx.engine !== 'postgres') return;
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where oid in (select to_regclass(name) from unnest(${tables}::text[]) as name) and relpages < ${MAX_PAGES}::int
      and pg_relation_size(oid)
        >= ${GROWTH_FACTOR}::int * greatest(relpages, ${MIN_PAGES}::int) * current_setting('block_size')::bigint`.execute(
    tx,
  );
  if (rows.length === 0) return;
  await sql`analyze (skip_locked) ${sql.join(rows.map(({ name }) => sql.table(name)))}`.execute(tx);
}
