import { describe, expect, it } from 'vitest';
import { dateOrderOf, firstTime, parseTime } from '../../../src/importers/parsing/parse-time.ts';

const DAY = Date.UTC(2024, 2, 22);
const MORNING = Date.UTC(2024, 2, 22, 10, 15);
const HOUR = 3_600_000;

describe('parseTime', () => {
  it.each<[unknown, number]>([
    ['2024-03-22', DAY],
    ['2024-03-22T10:15:00Z', MORNING],
    ['2024-03-22 10:15', MORNING],
    ['2024-03-22T10:15:00.123456789+02:00', MORNING - 2 * HOUR + 123],
    ['2024-03-22T10:15:00-0500', MORNING + 5 * HOUR],
    ['2024-03-22T10:15:00Z[UTC]', MORNING],
    ['2024-03-22T10:15:00+01:00[Europe/Berlin]', MORNING - HOUR],
    ['2024-03-22T10:15:00[Europe/Berlin]', MORNING - HOUR],
    ['20240322', DAY],
    ['20240322T101500Z', MORNING],
    ['20240322101500', MORNING],
    ['2024/03/22', DAY],
    ['2024/3/22 10:15:00', MORNING],
    ['2024.03.22', DAY],
    ['22.03.2024', DAY],
    ['22.3.24 10:15', MORNING],
    ['03.04.2024', Date.UTC(2024, 3, 3)],
    ['03/22/2024', DAY],
    ['22/03/2024 10:15', MORNING],
    ['3/22/2024 10:15 AM', MORNING],
    ['3/22/2024, 10:15:00 PM', MORNING + 12 * HOUR],
    ['3/22/2024 12:15 AM', Date.UTC(2024, 2, 22, 0, 15)],
    ['2024-03-22 10:15:00 a.m.', MORNING],
    ['22-03-2024', DAY],
    ['4/4/2024', Date.UTC(2024, 3, 4)],
    ['22-Mar-24', DAY],
    ['22-MAR-2024 10:15', MORNING],
    ['31. Dez. 99', Date.UTC(1999, 11, 31)],
    [`"${MORNING}"`, MORNING],
    ['22 3월 2024', DAY],
    ['22 мар. 2024 г. 10:15:00', MORNING],
    ['1 мая 2024', Date.UTC(2024, 4, 1)],
    ['Mar 22, 2024', DAY],
    ['March 22, 2024 10:15', MORNING],
    ['22. März 2024 10:15', MORNING],
    ['22. Mär. 2024', DAY],
    ['Fr., 22 März 2024 10:15:00', MORNING],
    ['Freitag, 22. März 2024, 10:15 Uhr', MORNING],
    ['22 mars 2024', DAY],
    ['ven., 22 mars 2024 10:15:00', MORNING],
    ['mar. 19 mars 2024', Date.UTC(2024, 2, 19)],
    ['15 août 2024', Date.UTC(2024, 7, 15)],
    ['1 déc. 2024', Date.UTC(2024, 11, 1)],
    ['vie, 22 mar 2024 10:15:00', MORNING],
    ['mar, 19 mar 2024', Date.UTC(2024, 2, 19)],
    ['22 de marzo de 2024', DAY],
    ['pt., 22 mar 2024 10:15:00', MORNING],
    ['金, 22 3月 2024 10:15:00', MORNING],
    ['星期五, 22 三月 2024 10:15:00', MORNING],
    ['Fri, 22 Mar 2024 10:15:00', MORNING],
    ['Fri, 22 Mar 2024 10:15:00 GMT', MORNING],
    ['22 Mar 2024 11:15:00 +0100', MORNING],
    ['Fri Mar 22 10:15:00 2024', MORNING],
    ['Fri Mar 22 10:15:00 2024 UTC', MORNING],
    ['Fri Mar 22 11:15:00 CET 2024', MORNING],
    ['Fri Mar 22 17:15:00 WIB 2024', MORNING],
    ['Fri Mar 22 11:15:00 GMT+01:00 2024', MORNING],
    ['2024-03-22 11:15:00 CET', MORNING],
    ['2024-03-22 06:15 EDT', MORNING],
    [MORNING / 1_000, MORNING],
    [String(MORNING / 1_000), MORNING],
    [`${MORNING / 1_000}.5`, MORNING + 500],
    [MORNING, MORNING],
    [String(MORNING), MORNING],
    ['9999-12-31T23:59:59Z', 253_402_300_799_000],
  ])('reads %j', (text, time) => {
    expect(parseTime(text)).toBe(time);
  });

  it('reads day and month in the given order where a date leaves it open', () => {
    expect(parseTime('3/4/2024')).toBeNaN();
    expect(parseTime('3/4/2024', 'mdy')).toBe(Date.UTC(2024, 2, 4));
    expect(parseTime('3/4/2024', 'dmy')).toBe(Date.UTC(2024, 3, 3));
    expect(parseTime('03-04-2024', 'dmy')).toBe(Date.UTC(2024, 3, 3));
    expect(parseTime('22/3/2024', 'mdy')).toBe(DAY);
  });

  it.each([
    '',
    ' ',
    'N/A',
    '-',
    'never',
    'NULL',
    '0000-00-00 00:00:00',
    null,
    undefined,
    {},
    Number.NaN,
    Number.POSITIVE_INFINITY,
    0,
    '1600-01-01T00:00:00Z',
  ])('takes %j as absent', (value) => {
    expect(parseTime(value)).toBeUndefined();
  });

  it.each([
    'yesterday',
    '2024-02-30',
    '31.02.2024',
    '99999-01-01',
    '22 Foo 2024',
    'Mar 2024',
    '22/13/2024x',
    '13/13/2024',
    '23-05-19',
    '3/22/2024 13:05 PM',
    '2024-03-22T25:00:00Z',
    '2024-03-22T10:15:00[Nowhere/Else]',
    'x'.repeat(1_000),
  ])('does not understand %j', (text) => {
    expect(parseTime(text)).toBeNaN();
  });
});

it('dateOrderOf: what a date shows', () => {
  const dates = [
    '22/3/2024',
    '3/22/2024',
    '3/4/2024',
    '4/4/2024',
    '3-4-2024 10:15',
    '2024/3/4',
    '3.4.2024',
    '',
  ];
  expect(dates.map(dateOrderOf)).toEqual([
    'dmy',
    'mdy',
    'open',
    undefined,
    'open',
    undefined,
    undefined,
    undefined,
  ]);
});

it('firstTime: the first that is understood', () => {
  expect(firstTime(undefined, 'soon', '2024-03-22')).toBe(DAY);
  expect(firstTime(undefined, 'soon')).toBeNaN();
  expect(firstTime(undefined, '')).toBeUndefined();
});
