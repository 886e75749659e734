import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DatabaseConnection, SqliteDialect, type SqliteDialectConfig, SqliteDriver } from 'kysely';

/** How long statements may follow each other in one turn of the event loop. */
const MAX_MILLISECONDS = 10;

/**
 * The pace of the connection that writes: SQLite answers in the thread that asks, so a unit of work of many statements
 * lets the event loop turn between them.
 */
export class EventLoopBudget {
  #since = 0;
  #unit = 0;

  /** Counts the units of work. */
  get transaction(): number {
    return this.#unit;
  }

  /** A turn of the event loop has begun, and a unit of work with it. */
  begin(): void {
    this.#since = performance.now();
    this.#unit += 1;
  }

  /** A unit of work has ended, or another one begins. */
  nextTransaction(): void {
    this.#unit += 1;
  }

  get isExceeded(): boolean {
    return performance.now() - this.#since > MAX_MILLISECONDS;
  }

  async yieldTurn(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}

/** What Kysely needs to ask a connection at this pace. */
export class YieldingSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #pace: EventLoopBudget;

  constructor(config: SqliteDialectConfig, pace: EventLoopBudget) {
    super(config);
    this.#config = config;
    this.#pace = pace;
  }

  override createDriver(): SqliteDriver {
    return new YieldingSqliteDriver(this.#config, this.#pace);
  }
}

class YieldingSqliteDriver extends SqliteDriver {
  readonly #pace: EventLoopBudget;

  constructor(config: SqliteDialectConfig, pace: EventLoopBudget) {
    super(config);
    this.#pace = pace;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const { transaction } = this.#pace;
    const connection = await super.acquireConnection();
    if (this.#pace.isExceeded) await this.#pace.yieldTurn();
    // Whoever asked may have failed meanwhile by another of its statements, and be undone.
    if (transaction === this.#pace.transaction) return connection;
    await super.releaseConnection();
    throw new Error('The unit of work has ended.');
  }
}
