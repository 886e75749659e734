/** Milliseconds without opening the page after which a visit has ended. */
const VISIT_TIMEOUT = 30 * 60_000;
const LAST_SEEN_KEY = 'assay-last-seen';
const PREVIOUS_VISIT_KEY = 'assay-visit-before';

/** @returns a day in the browser's time zone: `2026-11-27` */
export function daysFromToday(days: number, now = new Date()): string {
  const date = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
  // In UTC, it may be another day.
  return new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())).toISOString().slice(0, 10);
}

/** @returns the first moment of the week, which begins on Monday, or of the month if that is earlier */
export function startOfHours(now = new Date()): { week: string; month: string; first: string } {
  const monday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - ((now.getDay() + 6) % 7));
  const month = new Date(now.getFullYear(), now.getMonth(), 1);
  return {
    week: monday.toISOString(),
    month: month.toISOString(),
    first: new Date(Math.min(monday.getTime(), month.getTime())).toISOString(),
  };
}

/** Records this visit in the browser. @returns when the previous visit ended; undefined on the first */
export function recordVisit(now = Date.now()): string | undefined {
  const last = Number(localStorage.getItem(LAST_SEEN_KEY) ?? 0);
  if (last > 0 && now - last > VISIT_TIMEOUT)
    localStorage.setItem(PREVIOUS_VISIT_KEY, new Date(last).toISOString());
  localStorage.setItem(LAST_SEEN_KEY, String(now));
  return localStorage.getItem(PREVIOUS_VISIT_KEY) ?? undefined;
}
