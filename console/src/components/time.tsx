import type { ReactNode } from 'react';

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const SECOND = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const UNITS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
] as const;

/** @returns the time relative to now: "3 hours ago"; a date from one month on */
function relativeTime(at: Date, now = Date.now()): string {
  let amount = (at.getTime() - now) / 1_000;
  for (const [unit, next] of UNITS) {
    if (Math.abs(amount) < next) return RELATIVE.format(Math.round(amount), unit);
    amount /= next;
  }
  return DAY.format(at);
}

interface TimeProps {
  /** ISO 8601. */
  at: string;
  /** Whether to show date and time instead of a relative time, to the minute unless it says `seconds`. */
  exact?: boolean | 'seconds';
}

/** A time in the browser's time zone, with the full time as a tooltip. */
export function Time({ at, exact = false }: TimeProps) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={FULL.format(date)}>
      {exact === false ? relativeTime(date) : (exact === 'seconds' ? SECOND : MINUTE).format(date)}
    </time>
  );
}

interface DayProps {
  /** `2026-11-27`. */
  on: string;
  /** Shown instead of the date, which is then a tooltip. */
  children?: ReactNode;
}

/** A date without a time. */
export function Day({ on, children }: DayProps) {
  const [year = 0, month = 1, day = 1] = on.split('-').map(Number);
  const date = DAY.format(new Date(year, month - 1, day));
  return (
    <time dateTime={on} title={children === undefined ? undefined : date}>
      {children ?? date}
    </time>
  );
}
