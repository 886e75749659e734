import { type DatabaseConnection, SqliteDialect, type SqliteDialectConfig, SqliteDriver } from 'kysely';
import { yieldToEventLoop } from '../../runtime/yield-to-event-loop.ts';

/** How long statements may run back to back before the event loop gets a turn. */
const MAX_MILLISECONDS = 10;

/** Measures how long the writing connection has used the event loop: SQLite runs each statement on the calling thread. */
export class EventLoopBudget {
  #startedAt = 0;
  #transaction = 0;

  /** The number of the current transaction. */
  get transaction(): number {
    return this.#transaction;
  }

  /** Starts a transaction in a new turn of the event loop. */
  begin(): void {
    this.#startedAt = performance.now();
    this.#transaction += 1;
  }

  /** Ends a transaction, or starts another one in the same turn. */
  nextTransaction(): void {
    this.#transaction += 1;
  }

  get isExceeded(): boolean {
    return performance.now() - this.#startedAt > MAX_MILLISECONDS;
  }

  async yieldTurn(): Promise<void> {
    await yieldToEventLoop();
    this.#startedAt = performance.now();
  }
}

/** Kysely's SQLite dialect, which yields the event loop between statements when the budget is exceeded. */
export class YieldingSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #budget: EventLoopBudget;

  constructor(config: SqliteDialectConfig, budget: EventLoopBudget) {
    super(config);
    this.#config = config;
    this.#budget = budget;
  }

  override createDriver(): SqliteDriver {
    return new YieldingSqliteDriver(this.#config, this.#budget);
  }
}

class YieldingSqliteDriver extends SqliteDriver {
  readonly #budget: EventLoopBudget;

  constructor(config: SqliteDialectConfig, budget: EventLoopBudget) {
    super(config);
    this.#budget = budget;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const { transaction } = this.#budget;
    const connection = await super.acquireConnection();
    if (this.#budget.isExceeded) await this.#budget.yieldTurn();
    // Another statement of the caller may have failed meanwhile, which rolls its transaction back.
    if (transaction === this.#budget.transaction) return connection;
    await super.releaseConnection();
    throw new Error('The transaction has ended.');
  }
}
