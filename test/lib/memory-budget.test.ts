import { describe, expect, it } from 'vitest';
import { MemoryBudget, type Reservation } from '../../src/lib/memory-budget.ts';

const owner = (account: string, organization = 'own') => ({ account, organization });

/** Lets all granted work continue. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function createBudget() {
  const budget = new MemoryBudget({ total: 100, perOrganization: 60, perAccount: 40 });
  const granted: string[] = [];
  const acquire = async (account: ReturnType<typeof owner>, bytes: number) => {
    const reservation = await budget.acquire(account, bytes);
    granted.push(account.account);
    return reservation as Reservation;
  };
  return { budget, granted, acquire };
}

describe('Memory budget', () => {
  it('grants up to the limit of an account, and counts larger requests as that', async () => {
    const { budget, granted, acquire } = createBudget();
    const first = await acquire(owner('a'), 1_000);
    expect(budget.used).toBe(40);
    const second = acquire(owner('a'), 1);
    await settle();
    expect([granted, budget.waiting]).toEqual([['a'], 1]);
    await acquire(owner('b'), 20);
    first.shrinkTo(10);
    (await second).release();
    expect(budget.used).toBe(30);
    first.release();
    first.release();
    expect(budget.used).toBe(20);
  });

  it('lets others pass those who wait for their own limit', async () => {
    const { granted, acquire } = createBudget();
    const held = [await acquire(owner('a'), 40), await acquire(owner('b'), 20)];
    const waiting = [acquire(owner('c'), 10), acquire(owner('a'), 10)];
    const otherPermit = await acquire(owner('d', 'other'), 40);
    await settle();
    expect(granted).toEqual(['a', 'b', 'd']);
    held[1]?.release();
    await settle();
    // The account `a` is still at its limit.
    expect(granted).toEqual(['a', 'b', 'd', 'c']);
    held[0]?.release();
    for (const reservation of await Promise.all(waiting)) reservation.release();
    otherPermit.release();
  });

  it('lets no small request overtake a large one of its account or organization', async () => {
    const { granted, acquire } = createBudget();
    const held = await acquire(owner('a'), 10);
    const waiting = [acquire(owner('a'), 40), acquire(owner('a'), 5)];
    const otherPermit = await acquire(owner('b'), 20);
    const colleague = acquire(owner('c'), 40);
    const later = acquire(owner('d'), 1);
    await settle();
    // There is room for 5 bytes of `a`, and for one of the organization.
    expect(granted).toEqual(['a', 'b']);
    held.release();
    const [largest] = await Promise.all(waiting.slice(0, 1));
    expect(granted).toEqual(['a', 'b', 'a']);
    largest?.release();
    otherPermit.release();
    for (const reservation of await Promise.all([waiting[1], colleague, later])) reservation?.release();
  });

  it('forgets requests that have ended', async () => {
    const { budget, acquire } = createBudget();
    const held = await acquire(owner('a'), 40);
    let hasEnded = false;
    const waiting = budget.acquire(owner('a'), 10, () => hasEnded);
    hasEnded = true;
    held.release();
    expect(await waiting).toBeUndefined();
    expect([budget.used, budget.waiting]).toEqual([0, 0]);
  });

  it('bounds all together, in the order of requests', async () => {
    const { budget, granted, acquire } = createBudget();
    const held = [
      await acquire(owner('a', 'x'), 40),
      await acquire(owner('b', 'y'), 40),
      await acquire(owner('c', 'z'), 20),
    ];
    const waiting = [acquire(owner('d', 'u'), 5), acquire(owner('e', 'v'), 5)];
    await settle();
    expect([budget.used, budget.waiting]).toEqual([100, 2]);
    held[2]?.release();
    for (const reservation of await Promise.all(waiting)) reservation.release();
    expect(granted.slice(3)).toEqual(['d', 'e']);
    for (const reservation of held) reservation.release();
    expect([budget.used, budget.waiting]).toEqual([0, 0]);
  });
});
