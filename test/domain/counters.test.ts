import { CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import type { Transaction } from '../../src/db/database.ts';
import { unwrapOutcome } from '../../src/domain/shared/errors.ts';
import { createAssets } from '../../src/domain/assets/create-assets.ts';
import { addSeenTimes } from '../../src/domain/assets/scans/host-queries.ts';
import { createOrganization } from '../../src/domain/users/staff-organizations.ts';
import {
  addDeltas,
  compactCounters,
  deleteCounters,
  insertDeltas,
  DeltaAccumulator,
  readCounters,
  type CounterDelta,
} from '../../src/domain/shared/counters.ts';
import { deltaBucket } from '../../src/domain/shared/vulnerability-buckets.ts';
import { useOwnDatabase } from '../harness/database.ts';
import { engine } from '../harness/server.ts';

const { db } = await useOwnDatabase();

const deltaOf = (subject: number, bucket: string, amount: number): CounterDelta => ({
  kind: 'asset',
  subject,
  bucket,
  amount,
});
const add = (...differences: CounterDelta[]) => db.write((tx) => addDeltas(tx, differences));
const sums = async (...subjects: number[]) =>
  Object.fromEntries(
    [...(await readCounters(db.read, 'asset', subjects))].map(([subject, buckets]) => [
      subject,
      Object.fromEntries(buckets),
    ]),
  );
const rows = async () => {
  const [differences, folded] = await Promise.all([
    db.read.selectFrom('counter_deltas').selectAll().execute(),
    db.read.selectFrom('counters').selectAll().execute(),
  ]);
  return [differences.length, folded.length];
};
const foldAll = async (limit: number) => {
  let folded = limit;
  while (folded === limit) folded = await db.write((tx) => compactCounters(tx, limit, Date.now()));
};

it('Counters: sums deltas, folded or not, and deletes zero rows', async () => {
  await add(
    deltaOf(1, 'a', 1),
    deltaOf(1, 'a', 1),
    deltaOf(1, 'b', 1),
    deltaOf(2, 'a', 5),
    deltaOf(3, 'a', 1),
    deltaOf(3, 'a', -1),
  );
  expect(await rows()).toEqual([3, 0]);
  expect(await sums(1, 2, 3)).toEqual({ 1: { a: 2, b: 1 }, 2: { a: 5 } });
  await foldAll(2);
  expect(await rows()).toEqual([0, 3]);
  await add(deltaOf(1, 'a', -1), deltaOf(1, 'b', -1));
  expect(await sums(1)).toEqual({ 1: { a: 1, b: 0 } });
  expect(await sums(2)).toEqual({ 2: { a: 5 } });
  await foldAll(100);
  expect(await rows()).toEqual([0, 2]);
  await add(deltaOf(2, 'b', 1));
  await db.write((tx) => deleteCounters(tx, 'asset', 2));
  expect(await sums(1, 2)).toEqual({ 1: { a: 1 } });
});

it('Counters: count concurrent writes while they are folded', async () => {
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let n = 0; n < 10; n += 1) await add(deltaOf(100, String(writer % 4), 1), deltaOf(101, 'all', 1));
  });
  const folding = Promise.all([foldAll(7), foldAll(7)]);
  await Promise.all([...writers, folding]);
  const expected = { 100: { 0: 40, 1: 40, 2: 40, 3: 40 }, 101: { all: 160 } };
  expect(await sums(100, 101)).toEqual(expected);
  await Promise.all([foldAll(50), foldAll(50)]);
  expect(await sums(100, 101)).toEqual(expected);
});

it('Counters of vulnerabilities: are split by a merge, and end with the days that no summary shows', async () => {
  const day = 86_400_000;
  const now = 20_500 * day;
  const state = { statusId: 5, rank: 3, isDraft: false, isRetestRequested: true, source: 'a:b\u{1f600}' };
  const bucketOf = (reportedAt: number) => deltaBucket({ ...state, reportedAt, closedAt: now });
  const merge = (at: number) => db.write((tx) => compactCounters(tx, 100, at));
  const stored = async () =>
    (
      await db.read.selectFrom('counters').selectAll().where('subject', '=', 500).orderBy('kind').execute()
    ).map(({ kind, bucket, amount }) => `${kind} ${bucket} ${amount}`);
  const addState = (reportedAt: number, amount: number) =>
    add({ kind: 'organization', subject: 500, bucket: bucketOf(reportedAt), amount });
  await addState(now - 100 * day, 3);
  await addState(now - 101 * day, 2);
  await merge(now);
  const all = ['organization 5:3:0 5', 'organization-source 4:a:b\u{1f600}:5:3:0 5'];
  const closed = ['organization-closed 20500:5:0 5', 'organization-closed-source 20500:5:3:0:a:b\u{1f600} 5'];
  const retest = 'organization-retest 5:3:0:a:b\u{1f600} 5';
  expect((await stored()).sort()).toEqual(
    [
      ...all,
      ...closed,
      retest,
      'organization-opened 20400:5:0 3',
      'organization-opened-source 20400:5:3:0:a:b\u{1f600} 3',
    ].sort(),
  );
  await addState(now - 100 * day, 1);
  await addState(now - 100 * day, -1);
  await addState(now - 101 * day, -1);
  await merge(now + day);
  expect((await stored()).sort()).toEqual(
    [...all, ...closed, retest].map((row) => row.replace(/5$/, '4')).sort(),
  );
});

describe.runIf(engine() === 'postgres')('Concurrent transactions that write the same assets', () => {
  it.each<[string, (tx: Transaction, assets: readonly number[]) => Promise<void>]>([
    [
      'their open vulnerabilities',
      (tx, assets) =>
        insertDeltas(
          tx,
          assets.map((id) => ['asset', id, 'open', 1]),
        ),
    ],
    [
      'when they were seen',
      (tx, assets) =>
        addSeenTimes(
          tx,
          assets.map((id) => [id, 1]),
        ),
    ],
  ])('do not deadlock: %s', async (title, write) => {
    const uids = await db.write(async (tx) => {
      const by = cliChangeContext(1);
      const { uid: organization } = await createOrganization(tx, by, {
        uid: `org${title.length}`,
        name: title,
      });
      const input = ['first', 'second', 'third'].map((name) => ({
        organization,
        type: 'webapp' as const,
        name,
        location: `https://${name}.example/`,
      }));
      return unwrapOutcome(await createAssets(tx, by, input, () => '')).map(({ uid }) => uid);
    });
    const createdRows = await db.read.selectFrom('assets').select('id').where('uid', 'in', uids).execute();
    const ids = createdRows.map(({ id }) => id).sort((one, other) => one - other);
    const waiting = CompiledQuery.raw(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    let attempts = 0;
    const writeAll = (assets: readonly number[]) =>
      db.write((tx) => {
        attempts += 1;
        return write(tx, assets);
      });
    let written: Promise<unknown> | undefined;
    await db.write(async (tx) => {
      // Both wait for the asset in the middle, and then write the asset of the other.
      await tx
        .updateTable('assets')
        .set({ name: 'held' })
        .where('id', '=', ids[1] as number)
        .execute();
      written = Promise.all([writeAll(ids), writeAll(ids.toReversed())]);
      await expect.poll(async () => (await db.read.executeQuery(waiting)).rows.length).toBe(2);
    });
    await written;
    expect(attempts).toBe(2);
  });
});

it('Counters: are written in the order of their subjects as numbers', async () => {
  const accumulator = new DeltaAccumulator();
  accumulator.add([
    deltaOf(10, 'a', 1),
    deltaOf(9, 'b', 1),
    deltaOf(9, 'a', 1),
    { ...deltaOf(8, 'a', 1), kind: 'vulnerability-tag' },
  ]);
  expect(accumulator.rows()).toEqual([
    ['asset', 9, 'a', 1],
    ['asset', 9, 'b', 1],
    ['asset', 10, 'a', 1],
    ['vulnerability-tag', 8, 'a', 1],
  ]);
});
