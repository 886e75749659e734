import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { takeTurn } from '../../src/lib/yield-to-event-loop.ts';

it('takeTurn: one caller goes on in each turn of the event loop, in order', async () => {
  const done: number[] = [];
  const workers = [1, 2, 3].map(async (number) => {
    await takeTurn();
    done.push(number);
  });
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await nextTurn();
    expect(done).toEqual(expected);
  }
  await Promise.all(workers);
  await takeTurn();
});
