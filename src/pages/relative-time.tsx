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

/** What distances are told in, and from which one on. Just under a whole one counts as that: 23:45 are a day. */
const DISTANCES = [
  ['year', 365 * DAY, 350 * DAY],
  ['month', 30.44 * DAY, 60 * DAY],
  ['day', DAY, DAY - HOUR / 2],
  ['hour', HOUR, HOUR - MINUTE / 2],
  ['minute', MINUTE, MINUTE / 2],
] as const;

/** When the page is made, in milliseconds since 1970 (see `sendPage`). */
export const NowContext = createContext(0);

/** @param milliseconds at least a minute @returns a length of time in the largest unit that fills it: `1 hour` */
export function formatDuration(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, size]) => milliseconds >= size) ?? UNITS[2];
  return pluralize(Math.floor(milliseconds / length), unit);
}

/** @returns how far a time is from now: `just now`, `3 hours ago`, `in 2 months`; both in milliseconds since 1970 */
export function formatRelativeTime(at: number, now: number): string {
  const distance = Math.abs(at - now);
  const found = DISTANCES.find(([, , least]) => distance >= least);
  if (found === undefined) return at > now ? 'in a moment' : 'just now';
  const [unit, size] = found;
  const words = pluralize(Math.max(1, Math.round(distance / size)), unit);
  return at > now ? `in ${words}` : `${words} ago`;
}

/** A time as people tell it, and the exact one on hover: in UTC, as nothing is known of where the reader is. */
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
