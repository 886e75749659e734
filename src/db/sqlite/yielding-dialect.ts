import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DatabaseConnection, SqliteDialect, type SqliteDialectConfig, SqliteDriver } from 'kysely';

/** How long statements may follow each other in one turn of the event loop. */
const MAX_MILLISECONDS = 10;

/**
 * The pace of the connection that writes: SQLite answers in the thread that asks, so a unit of work of many statements
 * lets the event loop turn between them.
 */
export class Pace {
  #since = 0;
  #unit = 0;

  /** Counts the units of work. */
  get unit(): number {
    return this.#unit;
  }

  /** A turn of the event loop has begun, and a unit of work with it. */
  begin(): void {
    this.#since = performance.now();
    this.#unit += 1;
  }

  /** A unit of work has ended, or another one begins. */
  nextUnit(): void {
    this.#unit += 1;
  }

  get isDue(): boolean {
    return performance.now() - this.#since > MAX_MILLISECONDS;
  }

  async turn(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}

/** What Kysely needs to ask a connection at this pace. */
export class PacedDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #pace: Pace;

  constructor(config: SqliteDialectConfig, pace: Pace) {
    super(config);
    this.#config = config;
    this.#pace = pace;
  }

  override createDriver(): SqliteDriver {
    return new PacedDriver(this.#config, this.#pace);
  }
}

class PacedDriver extends SqliteDriver {
  readonly #pace: Pace;

  constructor(config: SqliteDialectConfig, pace: Pace) {
    super(config);
    this.#pace = pace;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const { unit } = this.#pace;
    const connection = await super.acquireConnection();
    if (this.#pace.isDue) await this.#pace.turn();
    // Whoever asked may have failed meanwhile by another of its statements, and be undone.
    if (unit === this.#pace.unit) return connection;
    await super.releaseConnection();
    throw new Error('The unit of work has ended.');
  }
}
