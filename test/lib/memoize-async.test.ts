import { expect, it } from 'vitest';
import { memoizeAsync } from '../../src/lib/memoize-async.ts';

/** Returns the given results one after another, and counts the calls. */
function makerOf(...results: Promise<number>[]) {
  let count = 0;
  const get = memoizeAsync(() => results[count++] as Promise<number>);
  return { get, count: () => count };
}

it('makes a value once, for all who ask meanwhile and later', async () => {
  const { get, count } = makerOf(Promise.resolve(1), Promise.resolve(2));
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  expect(await get()).toBe(1);
  expect(count()).toBe(1);
});

it('caches no failure: those who asked meanwhile see it, and the next one tries again', async () => {
  const { get, count } = makerOf(Promise.reject(new Error('no memory')), Promise.resolve(2));
  const outcomes = await Promise.allSettled([get(), get()]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([await get(), await get()]).toEqual([2, 2]);
  expect(count()).toBe(2);
});
