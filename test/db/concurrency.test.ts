import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database, Transaction } from '../../src/db/engine.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { SingleFlight } from '../../src/db/concurrency/single-flight.ts';
import { WriteBatcher } from '../../src/db/concurrency/write-batcher.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';

let place: TestDatabase;
let db: Database;
beforeAll(async () => {
  place = await createTestDatabase();
  db = await openDatabase({ ...place, timeout: 30_000 });
  await db.migrate();
});
afterAll(async () => {
  await db.close();
  await place.drop();
});

/** Inserts an organization of each uid; one that is taken is left out. */
async function insertAll(tx: Transaction, uids: readonly string[]): Promise<boolean[]> {
  const rows = await tx
    .insertInto('organizations')
    .values(uids.map((uid) => ({ uid, kind: 'organization' as const, name: uid, created_at: 1 })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('uid')
    .execute();
  const stored = new Set(rows.map(({ uid }) => uid));
  return uids.map((uid) => stored.delete(uid));
}
const exists = async (uid: string) =>
  (await db.read.selectFrom('organizations').select('id').where('uid', '=', uid).execute()).length === 1;

describe('Writes that come at the same time', () => {
  it('share a unit of work, and each gets what came of its own', async () => {
    const units: string[][] = [];
    const shared = new WriteBatcher(db, (tx, uids: readonly string[]) => {
      units.push([...uids]);
      return insertAll(tx, uids);
    });
    expect(await Promise.all(['a1', 'a2', 'a1'].map((uid) => shared.add(uid)))).toEqual([true, true, false]);
    expect(units).toEqual([['a1', 'a2', 'a1']]);
    expect(await exists('a2')).toBe(true);
    expect(await shared.add('a3')).toBe(true);
    expect(units).toHaveLength(2);
  });

  it('are durable when they are told of it, and those that come meanwhile are in the next unit', async () => {
    let next: Promise<boolean> | undefined;
    const units: string[][] = [];
    const shared: WriteBatcher<string, boolean> = new WriteBatcher(db, (tx, uids: readonly string[]) => {
      units.push([...uids]);
      next ??= shared.add('b2');
      return insertAll(tx, uids);
    });
    expect(await shared.add('b1')).toBe(true);
    expect(await exists('b1')).toBe(true);
    expect(await next).toBe(true);
    expect(await exists('b2')).toBe(true);
    expect(units).toEqual([['b1'], ['b2']]);
  });

  it('settle when one is awaited right after another', async () => {
    const shared = new WriteBatcher(db, insertAll);
    expect(await shared.add('k1')).toBe(true);
    expect(await shared.add('k2')).toBe(true);
    await expect(shared.add('k2')).resolves.toBe(false);
  });

  it('are at most 200 a unit', async () => {
    const units: number[] = [];
    const shared = new WriteBatcher(db, async (tx, uids: readonly string[]) => {
      units.push(uids.length);
      return insertAll(tx, uids);
    });
    await Promise.all(Array.from({ length: 450 }, (_, number) => shared.add(`c${number}`)));
    expect(units).toEqual([200, 200, 50]);
  });

  it('are tried each by itself when the unit fails with several, and leave nothing of what failed', async () => {
    const units: string[][] = [];
    const shared = new WriteBatcher(db, async (tx, uids: readonly string[]) => {
      units.push([...uids]);
      const results = await insertAll(tx, uids);
      if (uids.includes('d2')) throw new Error('It broke.');
      return results;
    });
    const results = await Promise.allSettled(['d1', 'd2', 'd3'].map((uid) => shared.add(uid)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(units).toEqual([['d1', 'd2', 'd3'], ['d1'], ['d2'], ['d3']]);
    expect(await Promise.all(['d1', 'd2', 'd3'].map(exists))).toEqual([true, false, true]);
    await expect(shared.add('d2')).rejects.toThrow('It broke.');
  });

  it('wait for those of their lane and for nobody else', async () => {
    const units: string[][] = [];
    const shared = new WriteBatcher(
      db,
      async (tx, uids: readonly string[]) => {
        units.push([...uids]);
        return insertAll(tx, uids);
      },
      { partitionOf: (uid) => uid.slice(0, 1) },
    );
    expect(await Promise.all(['f1', 'g1', 'f2'].map((uid) => shared.add(uid)))).toEqual([true, true, true]);
    expect(units.sort()).toEqual([['f1', 'f2'], ['g1']]);
  });

  it('weigh no more than a unit takes, or are alone in it', async () => {
    const units: string[][] = [];
    const shared = new WriteBatcher(
      db,
      async (tx, uids: readonly string[]) => {
        units.push([...uids]);
        return insertAll(tx, uids);
      },
      { weightOf: (uid) => uid.length, maxWeight: 4 },
    );
    await Promise.all(['i1', 'i2', 'i3', 'iiiiiiii', 'i4'].map((uid) => shared.add(uid)));
    expect(units).toEqual([['i1', 'i2'], ['i3', 'iiiiiiii'], ['i4']]);
  });

  it('are refused when there is no transaction to be had', async () => {
    const closed = await openDatabase({ ...place, timeout: 30_000 });
    await closed.close();
    const shared = new WriteBatcher(closed, insertAll);
    const results = await Promise.allSettled(['e1', 'e2'].map((uid) => shared.add(uid)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('A question that is shared', () => {
  it('is put once for all who wait, and never answered with what was asked before they came', async () => {
    const answers: ((answer: number) => void)[] = [];
    const question = new SingleFlight(() => new Promise<number>((resolve) => void answers.push(resolve)));
    const first = [question.run(), question.run()];
    await expect.poll(() => answers.length).toBe(1);
    const later = [question.run(), question.run()];
    answers[0]?.(1);
    expect(await Promise.all(first)).toEqual([1, 1]);
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.(2);
    expect(await Promise.all(later)).toEqual([2, 2]);
  });

  it('fails for those who wait, and is put again for the next', async () => {
    let failing = true;
    const question = new SingleFlight(async () => {
      if (failing) throw new Error('Nobody answers.');
      return 1;
    });
    const results = await Promise.allSettled([question.run(), question.run()]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    failing = false;
    expect(await question.run()).toBe(1);
  });
});
