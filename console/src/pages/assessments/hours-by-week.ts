import type { TestingSession } from '../../queries/client.ts';
import { startOfHours } from '../home/dates.ts';

const WEEKS = 8;

/** @returns the hours of the last eight weeks, which begin on Monday; the last is the current one */
export function hoursByWeek(
  sessions: readonly Pick<TestingSession, 'started_at' | 'hours'>[],
  now = new Date(),
): number[] {
  const monday = new Date(startOfHours(now).week);
  const starts = Array.from({ length: WEEKS }, (_, index) =>
    new Date(monday.getFullYear(), monday.getMonth(), monday.getDate() - 7 * (WEEKS - 1 - index)).getTime(),
  );
  const weeks = starts.map(() => 0);
  for (const { started_at: at, hours } of sessions) {
    const week = starts.findLastIndex((start) => start <= Date.parse(at));
    if (week >= 0) weeks[week] = (weeks[week] ?? 0) + hours;
  }
  return weeks;
}
