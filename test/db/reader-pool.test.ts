import { execFile } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { DatabaseSync } from '@photostructure/sqlite';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ReadConnection, StorageError } from '../../src/db/database.ts';
import { ReaderPool } from '../../src/db/sqlite/reader-pool.ts';
import { useOwnDatabase } from '../harness/database.ts';

/** Slow queries run on threads with SQLite. */

const threads = pathToFileURL(`${inject('product')}/dist/`);
const url = new URL('reader-worker.js', threads);
const countSql = (limit: number) =>
  `with recursive n (v) as (select 1 union all select v + 1 from n where v < ${limit}) select count(*) as count from n`;
const countTo = (limit: number) => sql<{ count: number }>`${sql.raw(countSql(limit))}`;
const LONG = 1_500_000;
/** The results of `LONG` and its multiples. */
const ATTEMPTS = 8;

const count = async (reader: ReadConnection, limit: number) =>
  (await countTo(limit).execute(reader)).rows[0]?.count;

const { db } = await useOwnDatabase({ workerDirectory: threads });

describe('Slow query', () => {
  it('does not delay later queries, here and on another thread', async () => {
    await count(db.readLong, 1);
    /** @returns the names of the finished queries, in order */
    const orderWith = async (limit: number): Promise<string[]> => {
      const order: string[] = [];
      const recordOrder = (name: string) => () => void order.push(name);
      await Promise.all([
        count(db.readLong, limit).then(recordOrder('long')),
        count(db.read, 10).then(recordOrder('here')),
        count(db.readLong, 10).then(recordOrder('there')),
        new Promise((resolve) => setTimeout(resolve, 0)).then(recordOrder('timer')),
      ]);
      return order;
    };
    let order: string[] = [];
    // If others waited for it, it would always end first. A busy machine may need a longer query.
    for (let attempt = 0; attempt < ATTEMPTS && order.at(-1) !== 'long'; attempt += 1)
      order = await orderWith(LONG * 2 ** attempt);
    expect(order.at(-1)).toBe('long');
  });

  it('returns results like any other', async () => {
    await db.write((tx) =>
      tx
        .insertInto('organizations')
        .values({ uid: 'one', kind: 'organization', name: 'One', created_at: 5 })
        .execute(),
    );
    const select = (reader: ReadConnection) =>
      reader.selectFrom('organizations').selectAll().where('uid', 'in', ['one']).execute();
    const rows = await select(db.readLong);
    expect(rows).toHaveLength(1);
    expect(rows).toEqual(await select(db.read));
    const inputs = [1, 2.5, 'ä', null];
    const values = sql`select ${sql.join(inputs.map((value) => sql`${value} as ${sql.ref(`c_${String(value).replace('.', '')}`)}`))},
      (select sum(value) from json_each(${[1, 2, 3]})) as sum`;
    const { rows: responses } = await values.execute(db.readLong);
    expect(responses).toEqual([{ c_1: 1, c_25: 2.5, c_ä: 'ä', c_null: null, sum: 6 }]);
  });

  it('fails like any other', async () => {
    const invalidQuery = sql`select 1 from nowhere`;
    await expect(invalidQuery.execute(db.readLong)).rejects.toThrow('no such table: nowhere');
    const change = sql`delete from organizations`;
    await expect(change.execute(db.readLong)).rejects.toThrow(StorageError);
    expect(await count(db.readLong, 3)).toBe(3);
  });

  it('is rejected while a thousand are queued', async () => {
    const queries = Array.from({ length: 1_003 }, () => count(db.readLong, 100));
    const settled = await Promise.allSettled(queries);
    const rejections = settled.filter(({ status }) => status === 'rejected');
    expect(rejections).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ name: 'StorageError', code: 'busy' }) },
    ]);
    expect(db.statistics().waiting).toBe(0);
  });
});

describe('Reader pool', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-threads-'));
  const path = join(folder, 'a.db');
  const start = () => new ReaderPool(url, { path, cacheSize: 1_024, timeout: 1_000 });
  const message = { sql: 'select 1 as one', parameters: [] };
  beforeAll(() => new DatabaseSync(path).close());
  afterAll(() => rmSync(folder, { recursive: true }));

  it('starts threads on demand, and again after they ended', async () => {
    const chunk = start();
    expect(chunk.size).toBe(0);
    renameSync(path, `${path}.away`);
    // Every query that waits for a thread that does not start is rejected.
    const failed = await Promise.allSettled([
      chunk.query(message),
      chunk.query(message),
      chunk.query(message),
    ]);
    expect(failed).toEqual(
      Array.from({ length: 3 }, () => ({ status: 'rejected', reason: expect.any(StorageError) })),
    );
    renameSync(`${path}.away`, path);
    expect(await chunk.query(message)).toEqual({ columns: ['one'], rows: [[1]] });
    expect(chunk.size).toBe(1);
    await chunk.close();
  });

  it('finishes running queries on close, and rejects others', async () => {
    const chunk = start();
    const queries = [1, 2, 3].map(() => chunk.query(message));
    const closed = chunk.close();
    const settled = await Promise.allSettled(queries);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await closed;
    expect(chunk.size).toBe(0);
    await expect(chunk.query(message)).rejects.toThrow(StorageError);
  });

  it('lets accounts take turns, and bounds what one of them has waiting', async () => {
    const chunk = start();
    const orderWith = async (limit: number): Promise<string[]> => {
      const order: string[] = [];
      const query = (account: number, name: string, text = message.sql) =>
        chunk
          .query({ sql: text, parameters: [] }, { aborted: false, account })
          .then(() => void order.push(name));
      // Keeps one thread busy, so that the other one runs the rest one after another.
      const longQuery = query(1, 'long', countSql(limit));
      const greedy = Array.from({ length: 101 }, (_, index) => query(1, `greedy ${index}`));
      const rejection = query(1, 'one more').catch((error: Error) => error.message);
      const otherQuery = query(2, 'other');
      await Promise.all([longQuery, ...greedy, otherQuery]);
      expect(await rejection).toContain('100 of this account');
      return order;
    };
    let order: string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS && order.at(-1) !== 'long'; attempt += 1)
      order = await orderWith(LONG * 2 ** attempt);
    expect(order.slice(0, 2)).toEqual(['greedy 0', 'other']);
    await chunk.close();
  });

  it('keeps no idle process alive', async () => {
    const module = pathToFileURL(`${inject('product')}/src/db/sqlite/reader-pool.js`).href;
    const script = `const { ReaderPool } = await import(${JSON.stringify(module)});
      const some = new ReaderPool(new URL(${JSON.stringify(url.href)}), ${JSON.stringify({ path, cacheSize: 1_024, timeout: 1_000 })});
      const { rows } = await some.query({ sql: 'select 7', parameters: [] });
      console.log(rows[0][0]);`;
    writeFileSync(join(folder, 'waits.mjs'), script);
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'waits.mjs')]);
    expect(stdout).toBe('7\n');
  });
});
