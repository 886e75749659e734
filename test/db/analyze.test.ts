import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/open-database.ts';
import { analyzeGrownTables } from '../../src/db/concurrency/adaptive-writer.ts';
import { useOwnDatabase } from '../harness/database.ts';
import { engine } from '../harness/server.ts';

const { db, testDatabase } = await useOwnDatabase();

async function believed(table: string): Promise<number> {
  const { rows } = await db.write((tx) =>
    sql<{ rows: number }>`select reltuples as rows from pg_class where oid = to_regclass(${table})`.execute(
      tx,
    ),
  );
  return rows[0]?.rows ?? Number.NaN;
}

const add = (from: number, to: number) =>
  db.write(async (tx) => {
    const rows = Array.from({ length: to - from }, (_, index) => ({
      uid: `growing${from + index}`,
      kind: 'organization' as const,
      name: 'Growing '.repeat(10),
      created_at: 1,
    }));
    for (let start = 0; start < rows.length; start += 500)
      await tx
        .insertInto('organizations')
        .values(rows.slice(start, start + 500))
        .execute();
  });
const note = () => db.write((tx) => analyzeGrownTables(tx, ['organizations', 'users']));

describe.runIf(engine() === 'postgres')('Planner statistics', () => {
  it('are updated for a table that has grown, and only then', async () => {
    // Autovacuum may be faster otherwise.
    await db.write((tx) => sql`alter table organizations set (autovacuum_enabled = off)`.execute(tx));
    await add(0, 10);
    await note();
    expect(await believed('organizations')).toBe(-1);
    await add(10, 3_000);
    await note();
    expect(await believed('organizations')).toBe(3_000);
    expect(await believed('users')).toBe(-1);
    await add(3_000, 4_000);
    await note();
    expect(await believed('organizations')).toBe(3_000);
  });
});

describe('Database with asynchronous commits', () => {
  const howDurable = async (relaxedDurability?: boolean): Promise<unknown> => {
    const opened = await openDatabase({ ...testDatabase, timeout: 30_000, relaxedDurability });
    try {
      const query = engine() === 'postgres' ? sql`show synchronous_commit` : sql`pragma synchronous`;
      const { rows } = await opened.write((tx) => query.execute(tx));
      return Object.values(rows[0] ?? {})[0];
    } finally {
      await opened.close();
    }
  };

  it('does not wait for the disk, and other databases do', async () => {
    expect(await howDurable(true)).toBe(engine() === 'postgres' ? 'off' : 1);
    expect(await howDurable()).toBe(engine() === 'postgres' ? 'on' : 2);
  });
});
