import { isoTime } from '../http/time.ts';

/** A time, to the minute and in UTC: nothing else is known of where the reader is. */
export function Time({ at }: { /** Milliseconds since 1970. */ at: number }) {
  const text = isoTime(at);
  return <time datetime={text}>{`${text.slice(0, 10)} ${text.slice(11, 16)} UTC`}</time>;
}
