import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { SingleFlight } from '../../src/db/concurrency/single-flight.ts';
import { WriteBatcher } from '../../src/db/concurrency/write-batcher.ts';
import { useOwnDatabase } from '../harness/database.ts';

const { db, testDatabase } = await useOwnDatabase();

/** Inserts an organization for each uid, except those that exist. */
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

describe('WriteBatcher', () => {
  it('writes concurrent items in one transaction, and resolves each with its own result', async () => {
    const batches: string[][] = [];
    const shared = new WriteBatcher(db, (tx, uids: readonly string[]) => {
      batches.push([...uids]);
      return insertAll(tx, uids);
    });
    expect(await Promise.all(['a1', 'a2', 'a1'].map((uid) => shared.add(uid)))).toEqual([true, true, false]);
    expect(batches).toEqual([['a1', 'a2', 'a1']]);
    expect(await exists('a2')).toBe(true);
    expect(await shared.add('a3')).toBe(true);
    expect(batches).toHaveLength(2);
  });

  it('resolves after the commit, and writes items added meanwhile in the next transaction', async () => {
    let next: Promise<boolean> | undefined;
    const batches: string[][] = [];
    const shared: WriteBatcher<string, boolean> = new WriteBatcher(db, (tx, uids: readonly string[]) => {
      batches.push([...uids]);
      next ??= shared.add('b2');
      return insertAll(tx, uids);
    });
    expect(await shared.add('b1')).toBe(true);
    expect(await exists('b1')).toBe(true);
    expect(await next).toBe(true);
    expect(await exists('b2')).toBe(true);
    expect(batches).toEqual([['b1'], ['b2']]);
  });

  it('settles items that are awaited one after another', async () => {
    const shared = new WriteBatcher(db, insertAll);
    expect(await shared.add('k1')).toBe(true);
    expect(await shared.add('k2')).toBe(true);
    await expect(shared.add('k2')).resolves.toBe(false);
  });

  it('writes at most 200 items in a transaction', async () => {
    const batches: number[] = [];
    const shared = new WriteBatcher(db, async (tx, uids: readonly string[]) => {
      batches.push(uids.length);
      return insertAll(tx, uids);
    });
    await Promise.all(Array.from({ length: 450 }, (_, number) => shared.add(`c${number}`)));
    expect(batches).toEqual([200, 200, 50]);
  });

  it('retries items individually when a transaction of several fails, and keeps nothing of the failed ones', async () => {
    const batches: string[][] = [];
    const shared = new WriteBatcher(db, async (tx, uids: readonly string[]) => {
      batches.push([...uids]);
      const results = await insertAll(tx, uids);
      if (uids.includes('d2')) throw new Error('It broke.');
      return results;
    });
    const results = await Promise.allSettled(['d1', 'd2', 'd3'].map((uid) => shared.add(uid)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(batches).toEqual([['d1', 'd2', 'd3'], ['d1'], ['d2'], ['d3']]);
    expect(await Promise.all(['d1', 'd2', 'd3'].map(exists))).toEqual([true, false, true]);
    await expect(shared.add('d2')).rejects.toThrow('It broke.');
  });

  it('waits only for items of the same partition', async () => {
    const batches: string[][] = [];
    const shared = new WriteBatcher(
      db,
      async (tx, uids: readonly string[]) => {
        batches.push([...uids]);
        return insertAll(tx, uids);
      },
      { partitionOf: (uid) => uid.slice(0, 1) },
    );
    expect(await Promise.all(['f1', 'g1', 'f2'].map((uid) => shared.add(uid)))).toEqual([true, true, true]);
    expect(batches.sort()).toEqual([['f1', 'f2'], ['g1']]);
  });

  it('limits the weight of a transaction, except for a single item', async () => {
    const batches: string[][] = [];
    const shared = new WriteBatcher(
      db,
      async (tx, uids: readonly string[]) => {
        batches.push([...uids]);
        return insertAll(tx, uids);
      },
      { weightOf: (uid) => uid.length, maxWeight: 4 },
    );
    await Promise.all(['i1', 'i2', 'i3', 'iiiiiiii', 'i4'].map((uid) => shared.add(uid)));
    expect(batches).toEqual([['i1', 'i2'], ['i3', 'iiiiiiii'], ['i4']]);
  });

  it('rejects when no transaction can start', async () => {
    const closed = await openDatabase({ ...testDatabase, timeout: 30_000 });
    await closed.close();
    const shared = new WriteBatcher(closed, insertAll);
    const results = await Promise.allSettled(['e1', 'e2'].map((uid) => shared.add(uid)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('SingleFlight', () => {
  it('runs once for all waiting callers, and never returns a result of a run started before a call', async () => {
    const responses: ((response: number) => void)[] = [];
    const flight = new SingleFlight(() => new Promise<number>((resolve) => void responses.push(resolve)));
    const first = [flight.run(), flight.run()];
    await expect.poll(() => responses.length).toBe(1);
    const later = [flight.run(), flight.run()];
    responses[0]?.(1);
    expect(await Promise.all(first)).toEqual([1, 1]);
    await expect.poll(() => responses.length).toBe(2);
    responses[1]?.(2);
    expect(await Promise.all(later)).toEqual([2, 2]);
  });

  it('rejects all waiting callers of a failed run, and runs again for the next', async () => {
    let failing = true;
    const flight = new SingleFlight(async () => {
      if (failing) throw new Error('Nobody answers.');
      return 1;
    });
    const results = await Promise.allSettled([flight.run(), flight.run()]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    failing = false;
    expect(await flight.run()).toBe(1);
  });
});
