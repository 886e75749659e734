import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultQueryExecutor,
  DummyDriver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts';
import { QueryBuilder, type Transaction, TransactionEnded } from '../database.ts';
import type { StatementCache } from './statement-cache.ts';

/** How long statements may run back to back before the event loop gets a turn. */
const MAX_MILLISECONDS = 10;

/**
 * Measures how long the writing connection has used the event loop: SQLite runs each statement on the calling thread.
 */
export class EventLoopBudget {
  #startedAt = 0;

  /** Starts to measure, in a new turn of the event loop. */
  restart(): void {
    this.#startedAt = performance.now();
  }

  get isExceeded(): boolean {
    return performance.now() - this.#startedAt > MAX_MILLISECONDS;
  }
}

const adapter = new SqliteAdapter();
const compiler = new SqliteQueryCompiler();
const driver = new DummyDriver();
const dialect = {
  createAdapter: () => adapter,
  createDriver: () => driver,
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  createQueryCompiler: () => compiler,
};

/**
 * The handle of one transaction on the writing connection. Its statements yield the event loop when the budget is
 * exceeded. After `end` it refuses statements, as the connection then belongs to another transaction.
 */
export class SqliteTransaction implements ConnectionProvider, DatabaseConnection {
  readonly builder: Transaction;
  readonly #statements: StatementCache;
  readonly #budget: EventLoopBudget;
  #ended = false;
  #yielding: Promise<void> | undefined;

  constructor(statements: StatementCache, budget: EventLoopBudget) {
    this.#statements = statements;
    this.#budget = budget;
    const executor = new DefaultQueryExecutor(compiler, adapter, this);
    this.builder = new QueryBuilder('sqlite', {
      config: { dialect },
      dialect,
      driver,
      executor,
    }) as Transaction;
  }

  provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return consumer(this);
  }

  /** @throws TransactionEnded */
  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    while (this.#yielding !== undefined || this.#budget.isExceeded) await (this.#yielding ??= this.#yield());
    if (this.#ended) throw new TransactionEnded();
    const statement = this.#statements.prepare(sql);
    if (statement.reader) return { rows: statement.all(parameters) as R[] };
    const { changes, lastInsertRowid } = statement.run(parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  streamQuery(): never {
    throw new TypeError('SQLite statements do not stream.');
  }

  end(): void {
    this.#ended = true;
  }

  async #yield(): Promise<void> {
    await yieldToEventLoop();
    this.#budget.restart();
    this.#yielding = undefined;
  }
}
