import type { Assessment } from '../../queries/client.ts';

const DAY_MS = 86_400_000;

/** Where an assessment stands between its first and its last day. */
interface Schedule {
  /** Days from the first to the last, both counted. */
  total: number;
  /** 1 on the first day; less before it, and more than `total` after the last. */
  day: number;
}

/** @returns undefined unless it has both dates */
export function scheduleOf(
  { starts_on: start, ends_on: end }: Pick<Assessment, 'starts_on' | 'ends_on'>,
  today: string,
): Schedule | undefined {
  if (start === null || end === null) return undefined;
  const daysSinceStart = (date: string) => (Date.parse(date) - Date.parse(start)) / DAY_MS + 1;
  return { total: daysSinceStart(end), day: daysSinceStart(today) };
}
