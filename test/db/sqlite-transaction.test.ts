import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { useOwnDatabase } from '../harness/database.ts';

/** On SQLite a transaction of many statements does not block the event loop. */
const { db } = await useOwnDatabase();
await db.write((tx) => sql`create table written (number int)`.execute(tx));

/** Takes several times as long as statements may run without yielding, on any machine. */
const takeLong = (tx: Transaction) =>
  sql`with recursive n (v) as (select 1 union all select v + 1 from n where v < 500000)
    select count(*) as many from n`.execute(tx);
const insert = (tx: Transaction, number: number) => sql`insert into written values (${number})`.execute(tx);
const written = async () =>
  (await sql<{ number: number }>`select number from written order by number`.execute(db.read)).rows.map(
    ({ number }) => number,
  );

describe('Transaction on SQLite', () => {
  it('yields to the event loop between slow statements', async () => {
    let turns = 0;
    let timer = setImmediate(function again() {
      turns += 1;
      timer = setImmediate(again);
    });
    try {
      await db.write(async (tx) => {
        turns = 0;
        for (let number = 0; number < 4; number += 1) await takeLong(tx);
        expect(turns).toBeGreaterThanOrEqual(3);
      });
    } finally {
      clearImmediate(timer);
    }
  });

  it('ends before the next one begins, however long it takes', async () => {
    const order: string[] = [];
    const runTransaction = (name: string) =>
      db.write(async (tx) => {
        order.push(`${name} begins`);
        await takeLong(tx);
        await insert(tx, 1);
        await takeLong(tx);
        order.push(`${name} ends`);
        await sql`delete from written`.execute(tx);
      });
    await Promise.all([runTransaction('one'), runTransaction('two')]);
    expect(order).toEqual(['one begins', 'one ends', 'two begins', 'two ends']);
  });

  it('that fails runs no statement that is queued after the failure', async () => {
    const failing = db.write((tx) =>
      Promise.all([
        insert(tx, 1),
        takeLong(tx),
        sql`select * from nothing_of_this_name`.execute(tx),
        takeLong(tx),
        insert(tx, 2),
        insert(tx, 3),
      ]),
    );
    const otherWrite = db.write((tx) => insert(tx, 4));
    await expect(failing).rejects.toThrow('nothing_of_this_name');
    await otherWrite;
    await db.write((tx) => insert(tx, 5));
    expect(await written()).toEqual([4, 5]);
  });
});
