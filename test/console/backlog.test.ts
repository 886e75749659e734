import { describe, expect, it } from 'vitest';
import {
  axisTicks,
  daysWithData,
  openByDay,
  stack,
  totals,
} from '../../console/src/components/charts/backlog.ts';
import { daysFromToday, startOfHours } from '../../console/src/pages/home/dates.ts';
import { medianDays } from '../../console/src/queries/median-days.ts';

const SERIES = [
  { name: 'Critical', values: [0, 1, 2] },
  { name: 'High', values: [0, 3, 1] },
];

describe('Backlog', () => {
  it('goes back from what is open today', () => {
    const days = [
      { date: '2026-11-27', opened: 5, closed: 0 },
      { date: '2026-11-28', opened: 2, closed: 1 },
      { date: '2026-11-29', opened: 0, closed: 3 },
    ];
    expect(openByDay(4, days)).toEqual([6, 7, 4]);
    expect(openByDay(0, [])).toEqual([]);
  });

  it('sums and stacks the severities', () => {
    expect(totals(SERIES)).toEqual([0, 4, 3]);
    expect(totals([])).toEqual([]);
    expect(stack(SERIES)).toEqual([
      { name: 'Critical', lower: [0, 0, 0], upper: [0, 1, 2] },
      { name: 'High', lower: [0, 1, 2], upper: [0, 4, 3] },
    ]);
  });

  it('counts the days since the first that had something open', () => {
    expect(daysWithData([0, 0, 4, 0, 1])).toBe(3);
    expect(daysWithData([0, 0])).toBe(0);
  });

  it.each([
    [0, [0, 1, 2]],
    [1, [0, 1, 2]],
    [4, [0, 1, 2, 3, 4]],
    [5, [0, 2, 4, 6]],
    [143, [0, 50, 100, 150]],
    [302, [0, 100, 200, 300, 400]],
    [98_765, [0, 50_000, 100_000]],
  ])('has an axis with three to five lines up to %d', (max, ticks) => {
    expect(axisTicks(max)).toEqual(ticks);
  });
});

describe('Home', () => {
  it('counts days in the time zone of the browser', () => {
    expect(daysFromToday(-1, new Date(2026, 2, 1, 0, 30))).toBe('2026-02-28');
    expect(daysFromToday(7, new Date(2026, 11, 28, 23, 30))).toBe('2027-01-04');
  });

  it('begins the week on Monday', () => {
    const sunday = startOfHours(new Date(2026, 10, 29, 12));
    expect(sunday.week).toBe(new Date(2026, 10, 23).toISOString());
    expect(sunday.first).toBe(sunday.month);
    const firstOfMonth = startOfHours(new Date(2026, 9, 1, 12));
    expect(firstOfMonth.first).toBe(new Date(2026, 8, 28).toISOString());
  });

  it('takes the median of the days to a fix', () => {
    const fixed = (days: number) => ({
      created_at: '2026-11-01T00:00:00Z',
      closed_at: new Date(Date.UTC(2026, 10, 1 + days)).toISOString(),
    });
    expect(medianDays([])).toBeNull();
    expect(medianDays([{ created_at: '2026-11-01T00:00:00Z', closed_at: null }])).toBeNull();
    expect(medianDays([fixed(9), fixed(1), fixed(2)])).toBe(2);
    expect(medianDays([fixed(4), fixed(8)])).toBe(6);
  });
});
