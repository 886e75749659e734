import { describe, expect, it } from 'vitest';
import { ageText, dateTexts } from '../../console/src/components/date-text.ts';

/** A Wednesday, in the zone of the tests. */
const NOW = new Date(2026, 10, 25, 12, 30);

describe('Times in the console', () => {
  it.each([
    ['this minute', new Date(2026, 10, 25, 12, 29, 30)],
    ['12 min ago', new Date(2026, 10, 25, 12, 18)],
    ['today, 09:05', new Date(2026, 10, 25, 9, 5)],
    ['yesterday, 16:40', new Date(2026, 10, 24, 16, 40)],
    ['Mon, 17:30', new Date(2026, 10, 23, 17, 30)],
    ['Thu, 00:00', new Date(2026, 10, 19)],
    ['18 Nov', new Date(2026, 10, 18, 23, 59)],
    ['16 Nov 2025', new Date(2025, 10, 16, 12)],
    ['tomorrow, 12:30', new Date(2026, 10, 26, 12, 30)],
    ['30 Nov', new Date(2026, 10, 30, 12)],
  ])('%s', (text, date) => {
    expect(dateTexts('en-GB').timeText(date, NOW)).toBe(text);
  });

  it('are in the language of the reader', () => {
    const { timeText, dateText } = dateTexts('de');
    expect(timeText(new Date(2026, 10, 24, 16, 40), NOW)).toBe('gestern, 16:40');
    expect(dateText(new Date(2026, 10, 16), NOW)).toBe('16. Nov.');
  });

  it('are dates with the year only outside this year', () => {
    const { dateText } = dateTexts('en-GB');
    expect(dateText(new Date(2026, 10, 27), NOW)).toBe('27 Nov');
    expect(dateText(new Date(2027, 0, 9), NOW)).toBe('9 Jan 2027');
  });
});

describe('Ages in the console', () => {
  it.each([
    ['0 h', new Date(2026, 10, 25, 12, 10)],
    ['23 h', new Date(2026, 10, 24, 13)],
    ['1 d', new Date(2026, 10, 24, 12)],
    ['13 d', new Date(2026, 10, 12)],
    ['2 wk', new Date(2026, 10, 11)],
    ['2 mo', new Date(2026, 8, 22)],
    ['2 y', new Date(2024, 10, 1)],
    ['0 h', new Date(2026, 10, 26)],
  ])('%s', (text, date) => {
    expect(ageText(date, NOW)).toBe(text);
  });
});
