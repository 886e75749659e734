import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Database } from '../../src/db/engine.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { CHECKPOINT_FRAMES } from '../../src/db/sqlite/wal-checkpointer.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';

/** On SQLite the log of what was written is brought into the database by a thread. */

const PAGE = 4_096;
const built = pathToFileURL(`${inject('product')}/dist/`);

let place: TestDatabase;
let db: Database | undefined;
beforeEach(async () => {
  place = await createTestDatabase();
});
afterEach(async () => {
  await db?.close();
  await place.drop();
});

const open = async (workerDirectory: URL | undefined) =>
  (db = await openDatabase({ ...place, timeout: 5_000, workerDirectory }));
const sizeOf = (name: string) => statSync(join(place.dataDirectory, name)).size / PAGE;
/** Two numbers in the head of the log, which are others each time that it begins anew. */
const beginning = () => readFileSync(join(place.dataDirectory, 'assay.db-wal')).toString('hex', 16, 24);
/** Writes about so many pages, in one unit of work. */
const writePages = (to: Database, pages: number) =>
  to.write(async (tx) => {
    await sql`create table if not exists filled (content blob)`.execute(tx);
    await sql`with recursive n (v) as (select 1 union all select v + 1 from n where v < ${pages})
      insert into filled select zeroblob(${PAGE - 100}) from n`.execute(tx);
  });

describe('The log of SQLite', () => {
  it('is copied when it has become long, and then begins anew', async () => {
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
      // What is written during a copy waits for the next; whoever writes once all is copied begins the log anew.
      await expect
        .poll(async () => {
          await writePages(opened, 100);
          return beginning();
        })
        .not.toBe(log);
    }
    // What was written since would have doubled it many times.
    expect(sizeOf('assay.db-wal')).toBeLessThan(2 * length);
  });

  it('is copied by the writer where the thread cannot start', async () => {
    const opened = await open(pathToFileURL('/nowhere/'));
    await writePages(opened, 2 * CHECKPOINT_FRAMES);
    expect(sizeOf('assay.db')).toBeLessThan(CHECKPOINT_FRAMES);
    await writePages(opened, 3 * CHECKPOINT_FRAMES);
    expect(sizeOf('assay.db')).toBeGreaterThan(CHECKPOINT_FRAMES);
  });
});
