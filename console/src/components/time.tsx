import type { ReactNode } from 'react';
import { ageText, dateTexts } from './date-text.ts';

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const FULL_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });
const MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const SECOND = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const { timeText, dateText } = dateTexts();

interface TimeProps {
  /** ISO 8601. */
  at: string;
  /** Whether to show the whole date with the time, to the minute unless it says `seconds`. */
  exact?: boolean | 'seconds';
}

/** A time in the browser's time zone, with the full time and its zone as a tooltip. */
export function Time({ at, exact = false }: TimeProps) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={FULL.format(date)}>
      {exact === false ? timeText(date) : (exact === 'seconds' ? SECOND : MINUTE).format(date)}
    </time>
  );
}

interface DayProps {
  /** `2026-11-27`. */
  on: string;
  /** Shown instead of the date. */
  children?: ReactNode;
}

/** A date without a time, with the full date as a tooltip. */
export function Day({ on, children }: DayProps) {
  const [year = 0, month = 1, day = 1] = on.split('-').map(Number);
  const date = new Date(year, month - 1, day);
  return (
    <time dateTime={on} title={FULL_DAY.format(date)}>
      {children ?? dateText(date)}
    </time>
  );
}

/** The age of something in its largest unit: "3 wk". */
export function Age({ since }: { /** ISO 8601. */ since: string }) {
  const date = new Date(since);
  return (
    <time dateTime={since} title={FULL.format(date)}>
      {ageText(date)}
    </time>
  );
}
