import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, StorageError } from '../../src/db/engine.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { engine } from '../harness/server.ts';

let testDatabase: TestDatabase;
let opened: Database[];

beforeEach(async () => {
  testDatabase = await createTestDatabase('unmigrated');
  opened = [];
});
afterEach(async () => {
  for (const db of opened) await db.close();
  await testDatabase.drop();
});

async function open(timeout = 30_000): Promise<Database> {
  const db = await openDatabase({ ...testDatabase, timeout });
  opened.push(db);
  return db;
}

describe('Migrations', () => {
  it('are applied once', async () => {
    const db = await open();
    const first = await db.migrate();
    expect(first[0]).toBe('0001-initial');
    expect(await db.migrate()).toEqual([]);
    expect(await (await open()).migrate()).toEqual([]);
    await db.check(Date.now());
  });

  it('are applied by one of several instances that start together', async () => {
    const several = await Promise.all([open(), open(), open()]);
    const applied = await Promise.all(several.map((db) => db.migrate()));
    expect(applied.filter((names) => names.length > 0).length).toBe(1);
    for (const db of several) await db.check(Date.now());
  });

  it('are reported as missing in a new database', async () => {
    const db = await open();
    await expect(db.check(Date.now())).rejects.toThrow();
    await db.migrate();
    await db.write((tx) => sql`delete from migrations`.execute(tx));
    await expect(db.check(Date.now())).rejects.toBeInstanceOf(StorageError);
  });

  it('stop at a database of a newer version without changes', async () => {
    const db = await open();
    await db.migrate();
    await db.write((tx) => sql`insert into migrations (name) values ('9999-from-the-future')`.execute(tx));
    await expect(db.migrate()).rejects.toThrow('9999-from-the-future');
    await db.check(Date.now());
  });

  describe.runIf(engine() === 'postgres')('beside an instance that locks the tables', () => {
    let other: pg.Client;
    beforeEach(async () => {
      await (await open()).migrate();
      other = new pg.Client({ connectionString: testDatabase.databaseUrl });
      await other.connect();
      await other.query('begin');
      await other.query('lock table migrations in access exclusive mode');
    });
    afterEach(() => other.end());

    it('wait longer than a request may', async () => {
      const hasty = await open(100);
      const applied = hasty.migrate();
      // Longer than the timeouts of the engine and the driver.
      await other.query('select pg_sleep(2.5)');
      await other.query('commit');
      expect(await applied).toEqual([]);
    });

    it('are rejected as unavailable when the connection is lost', async () => {
      const failure = (await open()).migrate().catch((error: unknown) => error);
      for (let ended = 0; ended === 0;) {
        // A transaction caches its first view of the activity until it is cleared.
        await other.query('select pg_stat_clear_snapshot()');
        const { rows } = await other.query(
          `select pg_terminate_backend(pid, 10000) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        ended = rows.length;
      }
      expect(await failure).toBeInstanceOf(StorageError);
    });
  });
});
