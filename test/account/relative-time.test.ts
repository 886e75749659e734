import { describe, expect, it } from 'vitest';
import { formatRelativeTime } from '../../src/page-kit/relative-time.tsx';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 5, 1);

describe('formatRelativeTime', () => {
  it.each([
    [0, 'just now'],
    [29_999, 'just now'],
    [30_000, '1 minute ago'],
    [90_000, '2 minutes ago'],
    [HOUR - 30_001, '59 minutes ago'],
    [HOUR - 30_000, '1 hour ago'],
    [HOUR + 29 * MINUTE, '1 hour ago'],
    [23 * HOUR + 29 * MINUTE, '23 hours ago'],
    [23 * HOUR + 30 * MINUTE, '1 day ago'],
    [59 * DAY, '59 days ago'],
    [60 * DAY, '2 months ago'],
    [349 * DAY, '11 months ago'],
    [350 * DAY, '1 year ago'],
    [800 * DAY, '2 years ago'],
    [-1, 'in a moment'],
    [-HOUR, 'in 1 hour'],
    [-90 * DAY, 'in 3 months'],
  ])('formats %d ms as "%s"', (distance, words) => {
    expect(formatRelativeTime(NOW - distance, NOW)).toBe(words);
  });
});
