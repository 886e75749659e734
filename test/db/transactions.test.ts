import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Transaction, StorageError, TransactionEnded } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { prepareQuery, preparePipelined } from '../../src/db/prepared-queries.ts';
import type { Tables } from '../../src/db/schema.ts';
import { useOwnDatabase } from '../harness/database.ts';
import { startNetworkProxy } from '../harness/network-proxy.ts';
import { engine } from '../harness/server.ts';

const { db, testDatabase } = await useOwnDatabase();

const insert = preparePipelined<{ uid: string; kind: 'organization' }>((tx, p) =>
  tx.insertInto('organizations').values({ uid: p.uid, kind: p.kind, name: p.uid, created_at: 1 }),
);
const add = (tx: Transaction, uid: string) => insert(tx, { uid, kind: 'organization' });
/** Violates a constraint of the table on every attempt. */
const addWrong = (tx: Transaction, uid: string) => insert(tx, { uid, kind: 'wrong' as 'organization' });
const rename = preparePipelined<{ uid: string; name: string }>((tx, p) =>
  tx.updateTable('organizations').set({ name: p.name }).where('uid', '=', p.uid),
);
const selectName = prepareQuery<{ uid: string }, { name: string }>((reader, p) =>
  reader.selectFrom('organizations').select('name').where('uid', '=', p.uid),
);
const nameOf = async (uid: string) => (await selectName(db.read, { uid }))[0]?.name;
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
const isOfTable = { message: expect.stringMatching(/check constraint/i) };

describe('Statement whose result is not awaited', () => {
  it('runs before the next one, and is durable with its transaction', async () => {
    const uids = Array.from({ length: 100 }, (_, index) => `ahead${index}`);
    const row = await db.write(async (tx) => {
      for (const uid of uids) await add(tx, uid);
      return Promise.all(uids.map((uid) => selectName(tx, { uid })));
    });
    expect(row.flat().map(({ name }) => name)).toEqual(uids);
    expect(await nameOf('ahead99')).toBe('ahead99');
  });

  it.each(['last', 'before others'])('fails its transaction, also as the %s', async (position) => {
    const uid = `unread ${position}`;
    const transaction = db.write(async (tx) => {
      await add(tx, uid);
      await addWrong(tx, `${uid} wrong`);
      if (position !== 'last') await add(tx, `${uid} behind`);
      return 'done';
    });
    expect(await failureOf(transaction)).toMatchObject(isOfTable);
    expect([await nameOf(uid), await nameOf(`${uid} wrong`), await nameOf(`${uid} behind`)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    await db.write((tx) => add(tx, uid));
    expect(await nameOf(uid)).toBe(uid);
  });

  it('is the cause when later ones fail because of it', async () => {
    const transaction = db.write(async (tx) => {
      await addWrong(tx, 'reason');
      await selectName(tx, { uid: 'reason' });
    });
    expect(await failureOf(transaction)).toMatchObject(isOfTable);
  });

  it('is rolled back with its transaction', async () => {
    const reason = new Error('thought better of it');
    const transaction = db.write(async (tx) => {
      await add(tx, 'undone');
      throw reason;
    });
    expect(await failureOf(transaction)).toBe(reason);
    expect(await nameOf('undone')).toBeUndefined();
  });
});

describe('Handle of a transaction', () => {
  it.each(['returned', 'thrown'])('rejects statements after its rule has %s', async (outcome) => {
    let ended: Transaction | undefined;
    const transaction = db.write(async (tx) => {
      ended = tx;
      if (outcome === 'thrown') throw new Error(outcome);
    });
    await failureOf(transaction);
    expect(await failureOf(add(ended!, `late ${outcome}`))).toBeInstanceOf(TransactionEnded);
    expect(await failureOf(selectName(ended!, { uid: '' }))).toBeInstanceOf(TransactionEnded);
    expect(await nameOf(`late ${outcome}`)).toBeUndefined();
  });

  it.each(['first', 'later'])(
    'stops the siblings of a branch that failed, as the %s of its group',
    async (position) => {
      const uid = `sibling ${position}`;
      const otherWrites: Promise<unknown>[] = [];
      let release = (): void => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      let sibling: Promise<unknown> | undefined;
      if (position === 'later') otherWrites.push(db.write((tx) => add(tx, `before ${uid}`)));
      const failing = db.write((tx) => {
        sibling = failureOf(
          (async () => {
            await selectName(tx, { uid });
            await gate;
            await add(tx, uid);
          })(),
        );
        return Promise.all([Promise.reject(new Error('one branch')), sibling]);
      });
      // Another transaction is open when the sibling continues.
      const otherWrite = db.write(async (tx) => {
        await add(tx, `other ${uid}`);
        release();
        await sibling;
        await selectName(tx, { uid });
      });
      expect(await failureOf(failing)).toMatchObject({ message: 'one branch' });
      await Promise.all([otherWrite, ...otherWrites]);
      expect(await sibling).toBeInstanceOf(TransactionEnded);
      expect([await nameOf(uid), await nameOf(`other ${uid}`)]).toEqual([undefined, `other ${uid}`]);
    },
  );

  it('differs from the transaction before', async () => {
    const transactions: Transaction[] = [];
    for (let count = 0; count < 2; count += 1) await db.write(async (tx) => void transactions.push(tx));
    expect(transactions[0]).not.toBe(transactions[1]);
  });
});

describe.runIf(engine() === 'postgres')('Transaction on PostgreSQL', () => {
  async function openRemote() {
    const network = await startNetworkProxy(new URL(testDatabase.databaseUrl!));
    const remote = await openDatabase({ ...testDatabase, databaseUrl: network.url, timeout: 30_000 });
    // Opens the connections for writing and reading.
    await remote.write((tx) => selectName(tx, { uid: '' }));
    await selectName(remote.read, { uid: '' });
    return {
      network,
      remote,
      async close() {
        await remote.close();
        await network.stop();
      },
    };
  }

  it('takes a round trip for each awaited result and one for the commit', async () => {
    const { network, remote, close } = await openRemote();
    const turnsOf = async (transaction: (tx: Transaction) => Promise<unknown>) => {
      const before = network.turns();
      await remote.write(transaction);
      return network.turns() - before;
    };
    expect(await turnsOf(async () => 'nothing')).toBe(0);
    expect(await turnsOf((tx) => add(tx, 'one turn'))).toBe(1);
    expect(
      await turnsOf(async (tx) => {
        await selectName(tx, { uid: 'one turn' });
        await rename(tx, { uid: 'one turn', name: 'a' });
        await rename(tx, { uid: 'one turn', name: 'b' });
      }),
    ).toBe(2);
    expect(
      await turnsOf(async (tx) => {
        await Promise.all([selectName(tx, { uid: 'one turn' }), selectName(tx, { uid: 'another' })]);
        await selectName(tx, { uid: 'one turn' });
      }),
    ).toBe(3);
    expect(await nameOf('one turn')).toBe('b');
    await close();
  });

  it('resolves after the response to the commit', async () => {
    const { network, remote, close } = await openRemote();
    let sent: () => void;
    const committed = new Promise<void>((resolve) => (sent = resolve));
    network.tamper({
      toServer(bytes) {
        if (bytes.includes('commit')) network.tamper({ toClient: () => (sent(), undefined) });
        return bytes;
      },
    });
    let resolved = false;
    const transaction = remote.write((tx) => add(tx, 'patient')).then(() => (resolved = true));
    await committed;
    // Other connections see the row, so it is durable, and a round trip has passed.
    while ((await nameOf('patient')) === undefined) await db.check(Date.now());
    expect(resolved).toBe(false);
    network.release();
    await transaction;
    await close();
  });

  it('rejects as unavailable when the connection is lost before the response to the commit', async () => {
    const { network, remote, close } = await openRemote();
    network.tamper({
      toServer(bytes) {
        if (bytes.includes('commit')) network.cut();
        return bytes;
      },
    });
    let attempts = 0;
    const failure = await failureOf(
      remote.write(async (tx) => {
        attempts += 1;
        await add(tx, 'unanswered');
      }),
    );
    expect(failure).toBeInstanceOf(StorageError);
    expect(attempts).toBe(1);
    network.release();
    await remote.write((tx) => add(tx, 'answered again'));
    expect(await nameOf('answered again')).toBe('answered again');
    await close();
  });

  it('writes nothing if it does not begin', async () => {
    const { network, remote, close } = await openRemote();
    network.tamper({
      toServer: (bytes) =>
        Buffer.from(bytes.toString('latin1').replace('read write', 'read wrote'), 'latin1'),
    });
    const unread = await failureOf(remote.write((tx) => add(tx, 'unbegun')));
    const read = await failureOf(
      remote.write((tx) =>
        tx
          .insertInto('organizations')
          .values({ uid: 'unbegun', kind: 'organization', name: '', created_at: 1 })
          .returning('id')
          .execute(),
      ),
    );
    for (const failure of [unread, read]) expect(failure).toBeInstanceOf(StorageError);
    expect(await nameOf('unbegun')).toBeUndefined();
    network.release();
    await remote.write((tx) => add(tx, 'unbegun'));
    expect(await nameOf('unbegun')).toBe('unbegun');
    await close();
  });

  it('rejects with the cause if it continues after a failed statement', async () => {
    const transaction = db.write(async (tx) => {
      await add(tx, 'deaf');
      await sql`select 1 / 0`.execute(tx as Kysely<Tables>).catch(() => undefined);
      return 'all is well';
    });
    expect(await failureOf(transaction)).toMatchObject({ code: '22012' });
    expect(await nameOf('deaf')).toBeUndefined();
  });

  it('is retried after a deadlock in a statement whose result is not awaited', async () => {
    await db.write((tx) => Promise.all([add(tx, 'west'), add(tx, 'east')]));
    let attempts = 0;
    let arrived = 0;
    let meet: () => void;
    const met = new Promise<void>((resolve) => (meet = resolve));
    const cross = (first: string, second: string, name: string) =>
      db.write(async (tx) => {
        attempts += 1;
        await rename(tx, { uid: first, name });
        await selectName(tx, { uid: first });
        if ((arrived += 1) === 2) meet();
        await met;
        await rename(tx, { uid: second, name });
      });
    await Promise.all([cross('west', 'east', 'a'), cross('east', 'west', 'b')]);
    expect(attempts).toBeGreaterThan(2);
    expect(await nameOf('west')).toBe(await nameOf('east'));
  });
});
