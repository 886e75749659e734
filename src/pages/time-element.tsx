import { isoTime } from '../domain/shared/time.ts';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** @param milliseconds at least a minute @returns a length of time in the largest unit that fills it: `1 hour` */
export function durationInWords(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, size]) => milliseconds >= size) ?? UNITS[2];
  const count = Math.floor(milliseconds / length);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** A time, to the minute and in UTC: nothing else is known of where the reader is. */
export function Time({ at }: { /** Milliseconds since 1970. */ at: number }) {
  const text = isoTime(at);
  return <time datetime={text}>{`${text.slice(0, 10)} ${text.slice(11, 16)} UTC`}</time>;
}
