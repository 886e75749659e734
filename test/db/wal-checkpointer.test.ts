import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { CHECKPOINT_FRAMES } from '../../src/db/sqlite/wal-checkpointer.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';

/** On SQLite a thread checkpoints the WAL. */

const PAGE = 4_096;
const built = pathToFileURL(`${inject('product')}/dist/`);

let testDatabase: TestDatabase;
let db: Database | undefined;
beforeEach(async () => {
  testDatabase = await createTestDatabase();
});
afterEach(async () => {
  await db?.close();
  await testDatabase.drop();
});

const open = async (workerDirectory: URL | undefined) =>
  (db = await openDatabase({ ...testDatabase, timeout: 30_000, workerDirectory }));
const sizeOf = (name: string) => statSync(join(testDatabase.dataDirectory, name)).size / PAGE;
/** Two salts in the header of the WAL, which change when it restarts. */
const beginning = () =>
  readFileSync(join(testDatabase.dataDirectory, 'assay.db-wal')).toString('hex', 16, 24);
/** Writes about as many pages in one transaction. */
const writePages = (to: Database, pages: number) =>
  to.write(async (tx) => {
    await sql`create table if not exists filled (content blob)`.execute(tx);
    await sql`with recursive n (v) as (select 1 union all select v + 1 from n where v < ${pages})
      insert into filled select zeroblob(${PAGE - 100}) from n`.execute(tx);
  });

describe('WAL of SQLite', () => {
  it('is checkpointed when it is long, and then restarts', async () => {
    const opened = await open(built);
    const before = sizeOf('assay.db');
    await writePages(opened, CHECKPOINT_FRAMES / 2);
    expect(sizeOf('assay.db')).toBe(before);
    await writePages(opened, CHECKPOINT_FRAMES);
    await expect.poll(() => sizeOf('assay.db')).toBeGreaterThan(CHECKPOINT_FRAMES);
    const length = sizeOf('assay.db-wal');
    for (let round = 0; round < 5; round += 1) {
      const size = sizeOf('assay.db');
      const log = beginning();
      await writePages(opened, CHECKPOINT_FRAMES);
      await expect.poll(() => sizeOf('assay.db')).toBeGreaterThan(size + CHECKPOINT_FRAMES / 2);
      // Pages written during a checkpoint wait for the next; the first write after a complete one restarts the WAL.
      await expect
        .poll(async () => {
          await writePages(opened, 100);
          return beginning();
        })
        .not.toBe(log);
    }
    // Without a restart it would have doubled many times.
    expect(sizeOf('assay.db-wal')).toBeLessThan(2 * length);
  });

  it('is in the database file once the database is closed', async () => {
    const opened = await open(built);
    await writePages(opened, 10);
    await sql`select count(*) from filled`.execute(opened.read);
    await opened.close();
    expect(sizeOf('assay.db-wal')).toBe(0);
    expect(sizeOf('assay.db')).toBeGreaterThan(10);
  });

  it('is checkpointed by the writer if the thread cannot start', async () => {
    const opened = await open(pathToFileURL('/nowhere/'));
    await writePages(opened, 2 * CHECKPOINT_FRAMES);
    expect(sizeOf('assay.db')).toBeLessThan(CHECKPOINT_FRAMES);
    await writePages(opened, 3 * CHECKPOINT_FRAMES);
    expect(sizeOf('assay.db')).toBeGreaterThan(CHECKPOINT_FRAMES);
  });
});
