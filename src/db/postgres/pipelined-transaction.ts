import type { CompiledQuery, ConnectionProvider, DatabaseConnection, QueryResult } from 'kysely';
import type pg from 'pg';
import { StorageError, type Transaction, TransactionEnded } from '../database.ts';
import { type PostgresConnection, createQueryBuilder, toQueryResult, streamQuery } from './connection.ts';
import { isPipelined } from '../prepared-queries.ts';

/** Bounds the memory of a transaction of any length. */
const MAX_IN_FLIGHT = 32;

/**
 * A transaction on one connection that waits only for results that the caller reads: `begin` is sent with the first
 * statement, and pipelined statements are sent with the next one or with `commit`. The server runs them in order and
 * answers each. The first failure fails the transaction.
 */
export class PipelinedTransaction implements ConnectionProvider, DatabaseConnection {
  readonly builder = createQueryBuilder(this) as Transaction;
  readonly streamQuery = streamQuery;
  readonly #connection: PostgresConnection;
  #begun = false;
  #ended = false;
  #pipelined = 0;
  /** The first error. For later statements, the server only reports that the transaction has failed. */
  #failure: { reason: unknown } | undefined;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return consumer(this);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#ended) throw new TransactionEnded();
    this.#begin();
    const result = this.#send(query.sql, query.parameters);
    if (isPipelined(query) && (this.#pipelined += 1) % MAX_IN_FLIGHT !== 0) return { rows: [] };
    return toQueryResult(await result);
  }

  /**
   * Resolves once the transaction is durable.
   * @throws the error of the first statement that failed; nothing was changed then. StorageError when the server did
   *   not answer; whether it committed is unknown then
   */
  async commit(): Promise<void> {
    this.#ended = true;
    if (!this.#begun) return;
    const { command } = await this.#send('commit');
    // After a failed statement, the server responds to `commit` as to `rollback`.
    if (this.#failure !== undefined) throw this.#failure.reason;
    if (command !== 'COMMIT')
      throw new StorageError('unavailable', `The database responded to a commit with ${command}.`);
  }

  async rollback(): Promise<void> {
    this.#ended = true;
    if (this.#begun) await this.#connection.run('rollback');
  }

  /**
   * The connection is read-only outside `begin read write`: if that fails, every statement pipelined behind it fails
   * too.
   */
  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    void this.#track(
      this.#connection.run('begin read write').catch((error: unknown) => {
        this.#connection.discard();
        throw error instanceof StorageError
          ? error
          : new StorageError('unavailable', 'The database cannot begin a transaction.', { cause: error });
      }),
    );
  }

  #send(text: string, values?: readonly unknown[]): Promise<pg.QueryResult> {
    return this.#track(this.#connection.run(text, values));
  }

  #track<T>(sent: Promise<T>): Promise<T> {
    const tracked = sent.catch((error: unknown): never => {
      this.#failure ??= { reason: error };
      throw this.#failure.reason;
    });
    // A caller that does not read the result gets the error from `commit`.
    tracked.catch(() => undefined);
    return tracked;
  }
}
