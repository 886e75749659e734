import type { CompiledQuery } from 'kysely';
import type { Engine, ReadConnection, Transaction } from './database.ts';

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A query whose rows are `R`: `execute` carries their type, which Kysely's `Compilable` does not check. */
interface Query<R> {
  compile(): CompiledQuery;
  execute(): Promise<readonly R[]>;
}

type Build<D, P, R> = (db: D, parameters: P) => Query<R>;

/**
 * Prepares a query: its SQL is built once per engine instead of at every call, as building a query costs more than running
 * it. While the SQL is built, each member of `build`'s parameters is a placeholder. `build` may only pass them on as
 * values: it runs before there is a value to inspect or to branch on.
 *
 * If the SQL depends on a value, prepare one query per value: `memoizeByVisibility` (the caller's visibility),
 * `memoizeByLock` (the row lock) and `memoizeByShape` (the sort) store them.
 * @param build annotate its parameters, and Kysely infers the rows
 * @returns a function that runs the query with values and resolves with its rows
 * @example
 * const commentById = prepareQuery((db, p: { id: number }) =>
 *   db.selectFrom('comments').select(['id', 'text']).where('id', '=', p.id),
 * );
 * const [comment] = await commentById(db, { id: 7 }); // select id, text from comments where id = $1
 *
 * const visibleById = memoizeByVisibility((visibility) =>
 *   prepareQuery((db, p: VisibilityParameters & { id: number }) =>
 *     db.selectFrom('assets').select('id').where('id', '=', p.id).where(assetIsVisible(visibility, p)),
 *   ),
 * );
 * const [asset] = await visibleById(visibilityOf(caller))(db, { ...visibilityParameters(caller), id: 7 });
 */
export function prepareQuery<P extends object, R>(
  build: Build<ReadConnection, P, R>,
): (db: ReadConnection, parameters: P) => Promise<R[]> {
  return compileOnce(build);
}

/** Like `prepareQuery`, for a statement that writes. */
export function prepareWrite<P extends object, R>(
  build: Build<Transaction, P, R>,
): (tx: Transaction, parameters: P) => Promise<R[]> {
  return compileOnce(build);
}

/** Like `prepareWrite`, but resolves with the number of changed rows. */
export function prepareRowCount<P extends object>(
  build: Build<Transaction, P, unknown>,
): (tx: Transaction, parameters: P) => Promise<number> {
  const bind = compileAndBind(build);
  return async (tx, parameters) => Number((await tx.executeQuery(bind(tx, parameters))).numAffectedRows ?? 0);
}

/**
 * Like `prepareWrite`, without a result: PostgreSQL sends the statement and does not wait. If it fails, the transaction
 * fails.
 */
export function preparePipelined<P extends object>(
  build: Build<Transaction, P, unknown>,
): (tx: Transaction, parameters: P) => Promise<void> {
  const bind = compileAndBind(build);
  return async (tx, parameters) => void (await tx.executeQuery(markPipelined(bind(tx, parameters))));
}

const pipelined = Symbol('unread');

/** Marks a statement whose result is not read. */
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
  const compiled: Partial<Record<Engine, CompiledQuery<R>>> = {};
  const placeholders = new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) }) as P;
  return (db: D, parameters: P): CompiledQuery<R> => {
    const query = (compiled[db.engine] ??= build(db, placeholders).compile());
    const values = query.parameters.map((value) =>
      value instanceof Placeholder ? parameters[value.name as keyof P] : value,
    );
    return { ...query, parameters: values };
  };
}
