import { join } from 'node:path';
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import pg from 'pg';

type Parameters = readonly unknown[];
type Row = Record<string, any>;

/** Runs SQL with `?` placeholders; statements are prepared once per text. */
interface Statements {
  all(sql: string, parameters: Parameters): Row[] | Promise<Row[]>;
}

export interface Connection extends Statements {
  /** Runs a transaction. Durable when it resolves. */
  write<T>(unit: (statements: Statements) => Promise<T>): Promise<T>;
  /** `column in (…)` for a list that is one parameter. */
  isOneOf(column: string): string;
  /** Clause after a select that locks its rows until the transaction ends. */
  lockClause: string;
}

const POOL_SIZE = 20;

/** One connection reads, another runs the transactions one after the other. */
export function connectSqlite(dataDirectory: string): Connection {
  const open = (): Statements & { exec(sql: string): void } => {
    const db = new DatabaseSync(join(dataDirectory, 'assay.db'), {
      timeout: 30_000,
      enableForeignKeyConstraints: true,
    });
    db.exec('pragma synchronous = full');
    db.exec('pragma cache_size = -65536');
    const prepared = new Map<string, StatementSyncInstance>();
    return {
      exec: (sql) => db.exec(sql),
      all(sql, parameters) {
        let statement = prepared.get(sql);
        if (statement === undefined) prepared.set(sql, (statement = db.prepare(sql)));
        return statement.all(
          ...parameters.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value)),
        ) as Row[];
      },
    };
  };
  const reader = open();
  const writer = open();
  let last: Promise<unknown> = Promise.resolve();
  return {
    all: reader.all,
    isOneOf: (column) => `${column} in (select value from json_each(?))`,
    lockClause: '',
    write(unit) {
      const run = async () => {
        writer.exec('begin immediate');
        const value = await unit(writer);
        writer.exec('commit');
        return value;
      };
      const result = last.then(run, run);
      last = result;
      return result;
    },
  };
}

export function connectPostgres(url: string): Connection {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE });
  const prepared = new Map<string, { name: string; text: string }>();
  const on = (client: pg.Pool | pg.PoolClient): Statements => ({
    async all(sql, parameters) {
      let statement = prepared.get(sql);
      if (statement === undefined) {
        let count = 0;
        const text = sql.replaceAll('?', () => `$${(count += 1)}`);
        prepared.set(sql, (statement = { name: `bare_${prepared.size}`, text }));
      }
      return (await client.query({ ...statement, values: [...parameters] })).rows as Row[];
    },
  });
  return {
    all: on(pool).all,
    isOneOf: (column) => `${column} = any(?)`,
    lockClause: ' for no key update',
    async write(unit) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const value = await unit(on(client));
        await client.query('commit');
        return value;
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
  };
}
