import { describe, expect, it } from 'vitest';
import { hoursByWeek } from '../../console/src/pages/assessments/hours-by-week.ts';
import { hoursOfTesters } from '../../console/src/pages/assessments/hours-of-testers.ts';
import { assessmentMessages, figureMessages } from '../../console/src/pages/assessments/messages.ts';
import { scheduleOf } from '../../console/src/pages/assessments/schedule.ts';
import { uidOfName } from '../../console/src/pages/assessments/uid-of-name.ts';

describe('Console: assessments', () => {
  it.each([
    ['Lumen infra Q4', 'lumen-infra-q4'],
    ['  Zürich: "Pay" & Go!  ', 'zurich-pay-go'],
    ['日本', ''],
    ['long '.repeat(20), 'long-'.repeat(10).slice(0, 49)],
  ])('make an id of the name %j', (name, uid) => {
    expect(uidOfName(name)).toBe(uid);
  });

  it.each([
    ['2026-10-11', 'In 1 day', 'Begins in 1 day', '54 days'],
    ['2026-10-12', 'Day 1 of 54', 'Day 1 of 54', '53 days left'],
    ['2026-11-25', 'Day 45 of 54', 'Day 45 of 54', '9 days left'],
    ['2026-12-04', 'Day 54 of 54', 'Day 54 of 54', 'last day'],
    ['2026-12-05', 'Over, 54 days', 'Over', '54 days'],
  ])('count their days on %s', (today, short, long, left) => {
    const schedule = scheduleOf({ starts_on: '2026-10-12', ends_on: '2026-12-04' }, today);
    const { day = 0, total = 0 } = schedule ?? {};
    expect(assessmentMessages.schedule(day, total)).toBe(short);
    expect([figureMessages.day(day, total), figureMessages.daysLeft(day, total)]).toEqual([long, left]);
  });

  it('have no schedule without both dates', () => {
    expect(scheduleOf({ starts_on: null, ends_on: '2026-12-04' }, '2026-11-25')).toBeUndefined();
  });

  it('add up hours by week', () => {
    const session = (at: Date, hours: number) => ({ started_at: at.toISOString(), hours });
    const sessions = [
      session(new Date(2026, 10, 23), 1),
      session(new Date(2026, 10, 25, 9), 2),
      session(new Date(2026, 10, 22, 23, 59), 4),
      session(new Date(2026, 9, 5), 8),
      session(new Date(2026, 9, 4, 23), 16),
    ];
    expect(hoursByWeek(sessions, new Date(2026, 10, 27))).toEqual([8, 0, 0, 0, 0, 0, 4, 3]);
  });

  it('name those first who test now, then those with the most hours', () => {
    const session = (id: number, hours: number) => ({
      id,
      assessment_id: 'a',
      tester: { id, name: `Tester ${id}`, email: `${id}@acme.example` },
      started_at: '2026-11-25T08:00:00Z',
      ended_at: null,
      hours,
      note: '',
      edited: false,
    });
    const testers = hoursOfTesters(
      [session(1, 1), session(2, 5), session(1, 1), session(3, 2)],
      [session(3, 2)],
    );
    expect(testers.map(({ tester, hours, since }) => [tester.id, hours, since !== undefined])).toEqual([
      [3, 2, true],
      [2, 5, false],
      [1, 2, false],
    ]);
  });
});
