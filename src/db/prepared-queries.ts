import { type CompiledQuery, PostgresAdapter } from 'kysely';
import type { ReadConnection, Transaction } from './engine.ts';

/** Stands where a parameter goes while the query is built. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A query whose rows are `R`. Kysely's `Compilable` says nothing of them that the compiler would compare; `execute` does. */
interface Query<R> {
  compile(): CompiledQuery;
  execute(): Promise<readonly R[]>;
}

type Build<D, P, R> = (db: D, parameters: P) => Query<R>;

/**
 * A query that is built and compiled once an engine instead of at every call: building costs more than running.
 * `build` sees placeholders where its parameters will be, so it may pass them on and not look at them; a parameter
 * may be `null` at the call, as long as `build` does not choose its SQL by it.
 * @returns a function from a connection and the parameters to the rows
 */
export function prepareQuery<P extends object, R>(
  build: Build<ReadConnection, P, R>,
): (db: ReadConnection, parameters: P) => Promise<R[]> {
  return compileOnce(build);
}

/** The same for a statement that changes something: it wants a unit of work. */
export function prepareWrite<P extends object, R>(
  build: Build<Transaction, P, R>,
): (tx: Transaction, parameters: P) => Promise<R[]> {
  return compileOnce(build);
}

/** The same for a statement of which only the number of rows that it changed is wanted. */
export function prepareRowCount<P extends object>(
  build: Build<Transaction, P, unknown>,
): (tx: Transaction, parameters: P) => Promise<number> {
  const bind = compileAndBind(build);
  return async (tx, parameters) => Number((await tx.executeQuery(bind(tx, parameters))).numAffectedRows ?? 0);
}

/**
 * The same for a statement of whose answer nothing is read but that it failed, which fails the unit of work: on PostgreSQL
 * it is sent, and not waited for.
 */
export function preparePipelined<P extends object>(
  build: Build<Transaction, P, unknown>,
): (tx: Transaction, parameters: P) => Promise<void> {
  const bind = compileAndBind(build);
  return async (tx, parameters) => void (await tx.executeQuery(markPipelined(bind(tx, parameters))));
}

const pipelined = Symbol('unread');

/** Marks a statement as one of whose answer nothing is read. */
export function markPipelined(query: CompiledQuery): CompiledQuery {
  return Object.assign({}, query, { [pipelined]: true });
}

export function isPipelined(query: CompiledQuery): boolean {
  return pipelined in query;
}

function compileOnce<D extends ReadConnection, P extends object, R>(build: Build<D, P, R>) {
  const bind = compileAndBind(build);
  return async (db: D, parameters: P): Promise<R[]> => (await db.executeQuery<R>(bind(db, parameters))).rows;
}

function compileAndBind<D extends ReadConnection, P extends object, R>(build: Build<D, P, R>) {
  const compiled: { sqlite?: CompiledQuery<R>; postgres?: CompiledQuery<R> } = {};
  const placeholders = new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) }) as P;
  return (db: D, parameters: P): CompiledQuery<R> => {
    const engine = db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
    const query = (compiled[engine] ??= build(db, placeholders).compile());
    const values = query.parameters.map((value) =>
      value instanceof Placeholder ? parameters[value.name as keyof P] : value,
    );
    return { ...query, parameters: values };
  };
}
