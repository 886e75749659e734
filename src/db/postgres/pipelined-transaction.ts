import type { CompiledQuery, ConnectionProvider, DatabaseConnection, QueryResult } from 'kysely';
import type pg from 'pg';
import { type Transaction, StorageError } from '../engine.ts';
import { type PostgresConnection, createQueryBuilder, toQueryResult, streamQuery } from './connection.ts';
import { isPipelined } from '../prepared-queries.ts';

/** So many statements are sent ahead of their answers, that a unit of any length needs little memory. */
const MAX_IN_FLIGHT = 32;

/**
 * One unit of work on one connection, which waits for answers only where somebody reads them: `begin` leaves with the
 * first statement, and what nobody reads leaves with the next one, or with `commit`. The server takes all in order, and
 * each is answered by itself; the first that fails fails the unit.
 */
export class PipelinedTransaction implements ConnectionProvider, DatabaseConnection {
  readonly transaction = createQueryBuilder(this) as Transaction;
  readonly streamQuery = streamQuery;
  readonly #connection: PostgresConnection;
  #begun = false;
  #ended = false;
  #unread = 0;
  /** What went wrong first; what follows is told by the server only that something did. */
  #failure: { reason: unknown } | undefined;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return consumer(this);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#ended) throw new Error('The unit of work is over.');
    this.#begin();
    const answer = this.#send(query.sql, query.parameters);
    if (isPipelined(query) && (this.#unread += 1) % MAX_IN_FLIGHT !== 0) return { rows: [] };
    return toQueryResult(await answer);
  }

  /**
   * Resolves once everything is durable.
   * @throws what the first statement that failed said; then nothing was changed. Unavailable, when no answer came: then
   *   nobody knows
   */
  async commit(): Promise<void> {
    this.#ended = true;
    if (!this.#begun) return;
    const { command } = await this.#send('commit');
    // The server answers the end of a unit in which something failed as it answers a rollback.
    if (this.#failure !== undefined) throw this.#failure.reason;
    if (command !== 'COMMIT') throw new StorageError(`The database answered a commit with ${command}.`);
  }

  async rollback(): Promise<void> {
    this.#ended = true;
    if (this.#begun) await this.#connection.run('rollback');
  }

  /**
   * The connection cannot write outside a transaction that says so: where this fails, so does all that was sent behind
   * it, and nothing of it is done.
   */
  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    void this.#track(
      this.#connection.run('begin read write').catch((error: unknown) => {
        this.#connection.discard();
        throw error instanceof StorageError
          ? error
          : new StorageError('The database begins no transaction now.', { cause: error });
      }),
    );
  }

  #send(text: string, values?: readonly unknown[]): Promise<pg.QueryResult> {
    return this.#track(this.#connection.run(text, values));
  }

  #track<T>(sent: Promise<T>): Promise<T> {
    const answer = sent.catch((error: unknown): never => {
      this.#failure ??= { reason: error };
      throw this.#failure.reason;
    });
    // Who does not read it is told when the unit ends.
    answer.catch(() => undefined);
    return answer;
  }
}
