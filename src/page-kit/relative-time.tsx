import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { formatTimestamp } from '../domain/shared/time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
] as const;

/** Units, and the minimum for each. A value just below a whole unit is rounded up: 23:45 is a day. */
const DISTANCES = [
  ['year', 365 * DAY, 350 * DAY],
  ['month', 30.44 * DAY, 60 * DAY],
  ['day', DAY, DAY - HOUR / 2],
  ['hour', HOUR, HOUR - MINUTE / 2],
  ['minute', MINUTE, MINUTE / 2],
] as const;

/** When the page is rendered, in milliseconds since 1970. */
export const NowContext = createContext(0);

/**
 * @param milliseconds at least a minute
 * @returns the duration in its largest unit: `1 hour`
 */
export function formatDuration(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, size]) => milliseconds >= size) ?? UNITS[2];
  return pluralize(Math.floor(milliseconds / length), unit);
}

/**
 * Formats a time relative to now, both in milliseconds since 1970.
 * @returns `just now`, `3 hours ago`, `in 2 months`
 */
export function formatRelativeTime(time: number, now: number): string {
  const distance = Math.abs(time - now);
  const distanceUnit = DISTANCES.find(([, , minimum]) => distance >= minimum);
  if (distanceUnit === undefined) return time > now ? 'in a moment' : 'just now';
  const [unit, size] = distanceUnit;
  const words = pluralize(Math.max(1, Math.round(distance / size)), unit);
  return time > now ? `in ${words}` : `${words} ago`;
}

/** A relative time, with the exact time in UTC on hover. */
export function RelativeTime({ at }: { /** Milliseconds since 1970. */ at: number }) {
  const text = formatTimestamp(at);
  return (
    <time datetime={text} title={`${text.slice(0, 10)} ${text.slice(11, 19)} UTC`}>
      {formatRelativeTime(at, useContext(NowContext))}
    </time>
  );
}

function pluralize(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
