import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Database, type QueryBuilder, StorageError, type Transaction } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { inList, withoutIndex } from '../../src/db/dialect-sql.ts';
import { prepareQuery, prepareRowCount, prepareWrite } from '../../src/db/prepared-queries.ts';
import { eventually } from '../harness/eventually.ts';
import { createTestDatabase } from '../harness/database.ts';
import { startNetworkProxy } from '../harness/network-proxy.ts';
import { engine } from '../harness/server.ts';

let db: Database;
const open = (timeout = 30_000) => openDatabase({ ...testDatabase, timeout });

const testDatabase = await createTestDatabase();
beforeAll(async () => {
  db = await open();
  await db.migrate();
});
afterAll(async () => {
  await db.close();
  await testDatabase.drop();
});

const onSqlite = it.runIf(engine() === 'sqlite');
const onPostgres = it.runIf(engine() === 'postgres');

const insert = (tx: Transaction, uid: string) =>
  tx
    .insertInto('organizations')
    .values({ uid, kind: 'organization', name: uid, created_at: 1 })
    .returning('id')
    .executeTakeFirstOrThrow();
const rename = (tx: Transaction, uid: string, name: string) =>
  tx.updateTable('organizations').set({ name }).where('uid', '=', uid).execute();
const nameOf = async (uid: string) =>
  (await db.read.selectFrom('organizations').select('name').where('uid', '=', uid).executeTakeFirst())?.name;
const exists = async (uid: string) => (await nameOf(uid)) !== undefined;

/** Locks an organization's row from another connection, like another process. */
async function lockRow(uid: string): Promise<() => Promise<void>> {
  if (engine() === 'sqlite') {
    const connection = new DatabaseSync(join(testDatabase.dataDirectory, 'assay.db'));
    connection.exec('begin immediate');
    return async () => {
      connection.exec('commit');
      connection.close();
    };
  }
  const client = new pg.Client({ connectionString: testDatabase.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('update organizations set name = name where uid = $1', [uid]);
  return async () => {
    await client.query('commit');
    await client.end();
  };
}

describe('Transaction', () => {
  it('resolves with the result once it is durable', async () => {
    const { id } = await db.write((tx) => insert(tx, 'returned'));
    expect(id).toBeTypeOf('number');
    const otherDatabase = await open();
    const rows = await otherDatabase.read
      .selectFrom('organizations')
      .select('uid')
      .where('id', '=', id)
      .execute();
    expect(rows).toEqual([{ uid: 'returned' }]);
    await otherDatabase.close();
  });

  it('rolls back alone when it throws among concurrent ones', async () => {
    const reason = new Error('not this one');
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        db.write(async (tx) => {
          await insert(tx, `many${index}a`);
          await insert(tx, `many${index}b`);
          if (index % 3 === 0) throw reason;
          return index;
        }),
      ),
    );
    for (const [index, result] of results.entries()) {
      const failed = index % 3 === 0;
      expect(result).toEqual(failed ? { status: 'rejected', reason } : { status: 'fulfilled', value: index });
      expect(await exists(`many${index}a`)).toBe(!failed);
      expect(await exists(`many${index}b`)).toBe(!failed);
    }
  });

  it.each(['The invitation is not open', 'tag "database is locked" exists', 'out of memory'])(
    'rejects with the thrown error: %s',
    async (message) => {
      const reason = new Error(message);
      await expect(db.write(() => Promise.reject(reason))).rejects.toBe(reason);
    },
  );

  it('does not affect the next one after a constraint violation', async () => {
    await db.write((tx) => insert(tx, 'taken'));
    const [first, second, third] = await Promise.allSettled([
      db.write(async (tx) => {
        await insert(tx, 'besidetaken');
        await insert(tx, 'taken');
      }),
      db.write((tx) =>
        tx
          .insertInto('assessments')
          .values({
            uid: 'orphan',
            organization_id: 999_999,
            group_id: null,
            name: 'x',
            created_at: 1,
          })
          .execute(),
      ),
      db.write((tx) => insert(tx, 'aftertaken')),
    ]);
    expect([first.status, second.status, third.status]).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect([await exists('besidetaken'), await exists('aftertaken')]).toEqual([false, true]);
  });

  it('is invisible to reads before it is durable', async () => {
    await db.write(async (tx) => {
      await insert(tx, 'unseen');
      expect(await exists('unseen')).toBe(false);
      expect(
        await tx.selectFrom('organizations').select('uid').where('uid', '=', 'unseen').execute(),
      ).toEqual([{ uid: 'unseen' }]);
    });
    expect(await exists('unseen')).toBe(true);
  });

  it('waits for another process that locks the rows', async () => {
    await db.write((tx) => insert(tx, 'held'));
    const release = await lockRow('held');
    let written = false;
    const write = db.write((tx) => rename(tx, 'held', 'renamed')).then(() => (written = true));
    expect(await nameOf('held')).toBe('held');
    expect(written).toBe(false);
    await release();
    await write;
    expect(await nameOf('held')).toBe('renamed');
  });

  it('rejects as unavailable after the timeout, and the next one succeeds', async () => {
    await db.write((tx) => insert(tx, 'stuck'));
    const hasty = await open(150);
    const release = await lockRow('stuck');
    const failure = await hasty.write((tx) => rename(tx, 'stuck', 'x')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StorageError);
    expect(failure).toMatchObject({ code: 'unavailable' });
    await release();
    await eventually(() => hasty.write((tx) => rename(tx, 'stuck', 'free')));
    expect(await nameOf('stuck')).toBe('free');
    await hasty.close();
  });

  onSqlite('shares a commit with other waiting transactions', async () => {
    let fewest = Number.POSITIVE_INFINITY;
    // A group ends after some milliseconds, which may be too few on a busy machine.
    for (let round = 0; round < 10 && fewest > 5; round += 1) {
      const before = db.statistics();
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => db.write((tx) => insert(tx, `shared${round}-${index}`))),
      );
      const after = db.statistics();
      expect(after.transactions - before.transactions).toBe(100);
      fewest = Math.min(fewest, after.commits - before.commits);
    }
    expect(fewest).toBeLessThanOrEqual(5);
  });

  onPostgres('is retried after a deadlock', async () => {
    for (const uid of ['left', 'right']) await db.write((tx) => insert(tx, uid));
    let attempts = 0;
    let arrived = 0;
    let meet: () => void;
    const met = new Promise<void>((resolve) => (meet = resolve));
    const cross = (first: string, second: string, name: string) =>
      db.write(async (tx) => {
        attempts += 1;
        await rename(tx, first, name);
        if ((arrived += 1) === 2) meet();
        await met;
        await rename(tx, second, name);
      });
    await Promise.all([cross('left', 'right', 'a'), cross('right', 'left', 'b')]);
    expect(attempts).toBeGreaterThan(2);
    expect(await nameOf('left')).toBe(await nameOf('right'));
  });

  onPostgres('is retried after a serialization failure', async () => {
    await db.write((tx) => insert(tx, 'serial'));
    let attempts = 0;
    await db.write(async (tx) => {
      attempts += 1;
      await sql`set transaction isolation level repeatable read`.execute(tx);
      await tx.selectFrom('organizations').select('name').where('uid', '=', 'serial').execute();
      if (attempts === 1) await db.write((other) => rename(other, 'serial', 'other'));
      await rename(tx, 'serial', `after ${attempts} attempts`);
    });
    expect(await nameOf('serial')).toBe('after 2 attempts');
  });

  onPostgres('can request a retry, which rolls back the attempt', async () => {
    let attempts = 0;
    await db.write(async (tx) => {
      await insert(tx, 'asked');
      if ((attempts += 1) < 4) throw new StorageError('conflict', 'read again');
    });
    expect(attempts).toBe(4);
    expect(await exists('asked')).toBe(true);
  });

  onPostgres('rejects as unavailable on a read-only server, and the next one succeeds', async () => {
    const failure = await db
      .write(async (tx) => {
        await sql`set transaction read only`.execute(tx);
        await insert(tx, 'standby');
      })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StorageError);
    expect(failure).toMatchObject({ code: 'unavailable' });
    await db.write((tx) => insert(tx, 'standby'));
  });

  onPostgres('survives a change of a table with cached plans', async () => {
    await db.write((tx) => sql`create table planned (a int)`.execute(tx));
    const alter = (column: string) =>
      db.write((tx) => sql`alter table planned add column ${sql.id(column)} int`.execute(tx));
    const select = sql`select * from planned where a is distinct from ${1}::int`;
    let attempts = 0;
    // Runs as many concurrent queries as there are connections, so that each connection has the plan.
    const selectOnAll = () => {
      let arrived = 0;
      let meet: () => void;
      const met = new Promise<void>((resolve) => (meet = resolve));
      return Promise.all(
        Array.from({ length: 12 }, () =>
          db.write(async (tx) => {
            attempts += 1;
            await select.execute(tx);
            if ((arrived += 1) === 12) meet();
            await met;
          }),
        ),
      );
    };
    await selectOnAll();
    expect(attempts).toBe(12);
    await alter('b');
    await db.write(async (tx) => {
      attempts += 1;
      await select.execute(tx);
    });
    expect(attempts).toBe(14);

    const read = () => select.execute(db.read as QueryBuilder);
    await read();
    await alter('c');
    const failure = await read().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StorageError);
    expect(failure).toMatchObject({ code: 'unavailable' });
    expect((await read()).rows).toEqual([]);
  });

  it('rejects as a conflict without changes when every attempt conflicts', async () => {
    let attempts = 0;
    const failure = await db
      .write(async (tx) => {
        attempts += 1;
        await insert(tx, 'hopeless');
        throw new StorageError('conflict', 'read again');
      })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'StorageError', code: 'conflict' });
    expect(attempts).toBe(engine() === 'sqlite' ? 1 : 8);
    expect(await exists('hopeless')).toBe(false);
  });
});

onPostgres('A commit is durable, also in a database with synchronous_commit off', async () => {
  const name = new URL(testDatabase.databaseUrl!).pathname.slice(1);
  await db.write((tx) => sql`alter database ${sql.id(name)} set synchronous_commit = off`.execute(tx));
  const otherDatabase = await open();
  const { rows } = await otherDatabase.write((tx) => sql`show synchronous_commit`.execute(tx));
  expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  await otherDatabase.close();
});

onSqlite('A commit is durable: it syncs the WAL', async () => {
  const setting = (name: string) => db.write((tx) => sql<object>`pragma ${sql.raw(name)}`.execute(tx));
  expect((await setting('journal_mode')).rows).toEqual([{ journal_mode: 'wal' }]);
  // FULL: the WAL is synced at every commit, not only at checkpoints.
  expect((await setting('synchronous')).rows).toEqual([{ synchronous: 2 }]);
});

describe('Reader', () => {
  it('cannot write', async () => {
    const writer = db.read as QueryBuilder;
    await expect(
      writer
        .insertInto('organizations')
        .values({ uid: 'r', kind: 'group', name: 'r', created_at: 1 })
        .execute(),
    ).rejects.toThrow();
    expect(await exists('r')).toBe(false);
  });

  it('returns counts and large integers as numbers', async () => {
    const row = await db.read
      .selectFrom('organizations')
      .select((eb) => [eb.fn.countAll().as('count'), sql`9007199254740991`.as('large')])
      .executeTakeFirstOrThrow();
    expect(row).toEqual({ count: expect.any(Number), large: Number.MAX_SAFE_INTEGER });
  });
});

describe.runIf(engine() === 'postgres')('Lost connection', () => {
  /** Runs statements from another connection, like another process. */
  async function outside<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: testDatabase.databaseUrl });
    await client.connect();
    return use(client).finally(() => client.end());
  }
  const terminate = (pid: number) =>
    outside((client) => client.query('select pg_terminate_backend($1, 10000)', [pid]));
  const failureOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

  it('in a transaction rejects it as unavailable, and the next one succeeds', async () => {
    const failure = await failureOf(
      db.write(async (tx) => {
        await insert(tx, 'cut');
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
        await terminate(rows[0]!.pid);
        await rename(tx, 'cut', 'never');
      }),
    );
    expect(failure).toBeInstanceOf(StorageError);
    expect(failure).toMatchObject({ code: 'unavailable' });
    expect(await exists('cut')).toBe(false);
    await db.write((tx) => insert(tx, 'cut'));
    expect(await exists('cut')).toBe(true);
  });

  it.each(['read', 'write'] as const)('during a query of a %s rejects it as unavailable', async (kind) => {
    const sleep = sql`select pg_sleep(60)`;
    const failure = failureOf(
      kind === 'read' ? sleep.execute(db.read as QueryBuilder) : db.write((tx) => sleep.execute(tx)),
    );
    await outside(async (client) => {
      for (let ended = 0; ended === 0;) {
        const { rows } = await client.query<{ ended: boolean }>(
          `select pg_terminate_backend(pid, 10000) as ended from pg_stat_activity
           where datname = current_database() and query = 'select pg_sleep(60)' and state = 'active'`,
        );
        ended = rows.length;
      }
    });
    expect(await failure).toBeInstanceOf(StorageError);
    await db.write((tx) => insert(tx, `after cut ${kind}`));
    expect(await exists(`after cut ${kind}`)).toBe(true);
  });

  it('without a notification rejects its queries as unavailable, and is not reused', async () => {
    const network = await startNetworkProxy(new URL(testDatabase.databaseUrl!));
    const remote = await openDatabase({ ...testDatabase, databaseUrl: network.url, timeout: 100 });
    const selectOne = () => sql<{ one: number }>`select 1 as one`.execute(remote.read as QueryBuilder);
    const write = (uid: string) => remote.write((tx) => insert(tx, uid));
    await db.write((tx) => insert(tx, 'noisy'));
    /** May take longer than the timeout on a busy machine, and can be repeated. */
    const reach = (name: string) =>
      eventually(() => Promise.all([selectOne(), remote.write((tx) => rename(tx, 'noisy', name))]));
    await reach('before silence');
    network.silence();
    for (const failure of await Promise.all([failureOf(selectOne()), failureOf(write('in silence'))])) {
      expect(failure).toBeInstanceOf(StorageError);
      expect(failure).toMatchObject({ code: 'unavailable' });
    }
    await reach('after silence');
    expect([await exists('in silence'), await nameOf('noisy')]).toEqual([false, 'after silence']);
    await remote.close();
    await network.stop();
  });
});

onPostgres(
  'A transaction waits for a connection up to the statement timeout, and is then rejected as busy',
  async () => {
    const busy = await open();
    let free = () => {};
    const freed = new Promise<void>((resolve) => (free = resolve));
    const holders = Array.from({ length: 12 }, () => {
      let entered = () => {};
      const inside = new Promise<void>((resolve) => (entered = resolve));
      const transaction = busy.write(async () => {
        entered();
        await freed;
      });
      return { inside, transaction };
    });
    await Promise.all(holders.map(({ inside }) => inside));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const tooLong = busy.write((tx) => insert(tx, 'too long')).catch((error: unknown) => error);
      vi.advanceTimersByTime(20_000);
      const patient = busy.write((tx) => insert(tx, 'patient'));
      vi.advanceTimersByTime(10_000);
      expect(await tooLong).toMatchObject({ name: 'StorageError', code: 'busy' });
      expect(busy.statistics().waiting).toBe(1);
      free();
      await patient;
    } finally {
      vi.useRealTimers();
    }
    await Promise.all(holders.map(({ transaction }) => transaction));
    await busy.close();
    expect([await exists('too long'), await exists('patient')]).toEqual([false, true]);
  },
);

describe('Portable queries', () => {
  const uidsAmong = prepareQuery<{ uids: readonly string[] }, { uid: string }>((reader, p) =>
    reader
      .selectFrom('organizations')
      .select('uid')
      .where((eb) => inList(reader, eb.ref('uid'), p.uids))
      .orderBy('uid'),
  );
  const idsAmong = prepareQuery<{ ids: readonly number[]; created: number }, { uid: string }>((reader, p) =>
    reader
      .selectFrom('organizations')
      .select('uid')
      .where((eb) => inList(reader, eb.ref('id'), p.ids))
      .where((eb) => eb(withoutIndex(eb.ref('created_at')), '=', p.created)),
  );

  it.each([
    ['none', []],
    ['one', ['listed0']],
    ['some, with duplicates and unknown ones', ['listed2', 'listed0', 'listed2', '', "'; drop table x"]],
    [
      'very many',
      ['listed1', 'listed2', ...Array.from({ length: 40_000 }, (_, index) => `no "${index}", \\ {}`)],
    ],
  ])('inList accepts a list of texts: %s', async (_name, uids) => {
    for (let i = 0; i < 3; i += 1)
      if (!(await exists(`listed${i}`))) await db.write((tx) => insert(tx, `listed${i}`));
    const expected = [0, 1, 2].map((i) => `listed${i}`).filter((uid) => uids.includes(uid));
    expect((await uidsAmong(db.read, { uids })).map(({ uid }) => uid)).toEqual(expected);
    await db.write(async (tx) => {
      expect((await uidsAmong(tx, { uids })).map(({ uid }) => uid)).toEqual(expected);
    });
  });

  it('inList accepts a list of numbers beside a condition without an index', async () => {
    const { id } = await db.write((tx) => insert(tx, 'numbered'));
    const ids = [id, -1, 9_007_199_254_740_991];
    expect(await idsAmong(db.read, { ids, created: 1 })).toEqual([{ uid: 'numbered' }]);
    expect(await idsAmong(db.read, { ids, created: 2 })).toEqual([]);
    expect(await idsAmong(db.read, { ids: [], created: 1 })).toEqual([]);
  });

  it('prepared statements accept new parameters each time, including null', async () => {
    const insertUser = prepareWrite<{ uid: string; name: string | null }, { id: number }>((tx, p) =>
      tx
        .insertInto('users')
        .values({
          uid: p.uid,
          email: p.uid,
          normalized_email: p.uid,
          name: p.name,
          staff: 1,
          admin: 0,
          created_at: 1,
        })
        .returning('id'),
    );
    const clear = prepareRowCount<{ ids: readonly number[] }>((tx, p) =>
      tx
        .updateTable('users')
        .set({ name: 'cleared' })
        .where('name', 'is', null)
        .where((eb) => inList(tx, eb.ref('id'), p.ids)),
    );
    const ids = await db.write(async (tx) => {
      const rows = [];
      for (const [uid, name] of [
        ['a', null],
        ['b', 'B'],
        ['c', null],
      ] as const)
        rows.push(...(await insertUser(tx, { uid, name })));
      return rows.map(({ id }) => id);
    });
    expect(await db.write((tx) => clear(tx, { ids }))).toBe(2);
    expect(await db.write((tx) => clear(tx, { ids }))).toBe(0);
  });
});

onSqlite('The files are readable only by their owner, also in a folder that others can read', async () => {
  const dataDirectory = join(testDatabase.dataDirectory, 'shared');
  mkdirSync(dataDirectory);
  chmodSync(dataDirectory, 0o755);
  const umask = process.umask(0o022);
  const shared = await openDatabase({ dataDirectory, timeout: 1_000 });
  try {
    await shared.migrate();
    await shared.write((tx) => insert(tx, 'private'));
    await shared.backup(join(dataDirectory, 'backup.db'));
    const modes = readdirSync(dataDirectory).map((name) => [
      name,
      (statSync(join(dataDirectory, name)).mode & 0o777).toString(8),
    ]);
    expect(Object.fromEntries(modes)).toEqual({
      'assay.db': '600',
      'assay.db-wal': '600',
      'assay.db-shm': '600',
      'backup.db': '600',
    });
  } finally {
    process.umask(umask);
    await shared.close();
  }
});
