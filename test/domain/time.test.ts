import { expect, it } from 'vitest';
import { isCalendarDate, formatTimestamp, parseTimestamp } from '../../src/domain/shared/time.ts';

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
])('formatTimestamp: formats %i as toISOString does', (milliseconds) => {
  // Twice, as the second call uses the cache.
  const written = [formatTimestamp(milliseconds), formatTimestamp(milliseconds)];
  const expected = new Date(milliseconds).toISOString();
  expect(written).toEqual([expected, expected]);
});

it('formatTimestamp: throws for NaN', () => {
  expect(() => formatTimestamp(Number.NaN)).toThrow(RangeError);
});

it.each([
  ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  ['2026-11-22T10:30', '2026-11-22T10:30:00.000Z'],
  ['2026-11-22T10:30:05.1239Z', '2026-11-22T10:30:05.123Z'],
  ['2026-11-22 10:30:00+0230', '2026-11-22T08:00:00.000Z'],
  ['2026-11-22t10:30:00-02:30', '2026-11-22T13:00:00.000Z'],
  ['2026-11-22t10:30:00z', '2026-11-22T10:30:00.000Z'],
])('parseTimestamp: parses %s', (text, time) => {
  expect(new Date(parseTimestamp(text) ?? Number.NaN).toISOString()).toBe(time);
});

it.each(['', 'now', '2026-02-29', '2026-11-22T24:00', '2026-11-22T10:30:60Z', '1e3', '2026-11-22T10:30Z '])(
  'parseTimestamp: rejects %j',
  (text) => expect(parseTimestamp(text)).toBeUndefined(),
);

it.each([
  ['2024-02-29', true],
  ['2026-02-29', false],
  ['2026-13-01', false],
  ['2026-1-1', false],
  ['2026-11-22T00:00', false],
])('isCalendarDate: %s is %s', (text, day) => expect(isCalendarDate(text)).toBe(day));
