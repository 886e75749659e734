import { expect, it } from 'vitest';
import { isoTime } from '../../src/domain/shared/time.ts';

it.each([
  0,
  1,
  -1,
  999,
  86_399_999,
  86_400_000,
  -86_400_001,
  Date.UTC(2024, 1, 29, 23, 59, 59, 999),
  Date.UTC(2026, 11, 31, 1, 2, 3, 4),
  Date.UTC(9999, 11, 31, 23, 59, 59, 999),
  Date.UTC(20_000, 0, 1),
])('writes %i as the platform does', (milliseconds) => {
  // Twice, as the second time uses what the first one remembered.
  const written = [isoTime(milliseconds), isoTime(milliseconds)];
  const expected = new Date(milliseconds).toISOString();
  expect(written).toEqual([expected, expected]);
});

it('throws for what is no time', () => {
  expect(() => isoTime(Number.NaN)).toThrow(RangeError);
});
