import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/db/engine.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import {
  addDeltas,
  compactCounters,
  deleteCounters,
  readCounters,
  type CounterDelta,
} from '../../src/domain/shared/counters.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';

let testDatabase: TestDatabase;
let db: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = await openDatabase({ ...testDatabase, timeout: 30_000 });
  await db.migrate();
});
afterAll(async () => {
  await db.close();
  await testDatabase.drop();
});

const of = (subject: number, bucket: string, amount: number): CounterDelta => ({
  kind: 'assessment',
  subject,
  bucket,
  amount,
});
const add = (...differences: CounterDelta[]) => db.write((tx) => addDeltas(tx, differences));
const sums = async (...subjects: number[]) =>
  Object.fromEntries(
    [...(await readCounters(db.read, 'assessment', subjects))].map(([subject, buckets]) => [
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
  while (folded === limit) folded = await db.write((tx) => compactCounters(tx, limit));
};

it('Counters: sums deltas, folded or not, and deletes zero rows', async () => {
  await add(of(1, 'a', 1), of(1, 'a', 1), of(1, 'b', 1), of(2, 'a', 5), of(3, 'a', 1), of(3, 'a', -1));
  expect(await rows()).toEqual([3, 0]);
  expect(await sums(1, 2, 3)).toEqual({ 1: { a: 2, b: 1 }, 2: { a: 5 } });
  await foldAll(2);
  expect(await rows()).toEqual([0, 3]);
  await add(of(1, 'a', -1), of(1, 'b', -1));
  expect(await sums(1)).toEqual({ 1: { a: 1, b: 0 } });
  expect(await sums(2)).toEqual({ 2: { a: 5 } });
  await foldAll(100);
  expect(await rows()).toEqual([0, 2]);
  await add(of(2, 'b', 1));
  await db.write((tx) => deleteCounters(tx, 'assessment', 2));
  expect(await sums(1, 2)).toEqual({ 1: { a: 1 } });
});

it('Counters: count concurrent writes while they are folded', async () => {
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let n = 0; n < 10; n += 1) await add(of(100, String(writer % 4), 1), of(101, 'all', 1));
  });
  const folding = Promise.all([foldAll(7), foldAll(7)]);
  await Promise.all([...writers, folding]);
  const expected = { 100: { 0: 40, 1: 40, 2: 40, 3: 40 }, 101: { all: 160 } };
  expect(await sums(100, 101)).toEqual(expected);
  await Promise.all([foldAll(50), foldAll(50)]);
  expect(await sums(100, 101)).toEqual(expected);
});
