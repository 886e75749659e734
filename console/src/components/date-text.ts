const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
/** Times of up to this many days ago have their weekday. */
const WEEKDAY_DAYS = 6;

/** @returns the date without the year in the year of `now` */
function dateText(date: Date, now: Date, formats: Formats): string {
  return (date.getFullYear() === now.getFullYear() ? formats.dayOfYear : formats.day).format(date);
}

/** @returns the calendar days from `date` to `now`, in the browser's time zone */
function daysBetween(date: Date, now: Date): number {
  // In UTC, so that daylight saving time does not matter.
  const utc = (one: Date) => Date.UTC(one.getFullYear(), one.getMonth(), one.getDate());
  return (utc(now) - utc(date)) / DAY_MS;
}

/** @returns the time as a reader says it: "12 min ago", "today, 09:05", "Mon, 17:30", "16 Nov" */
function timeText(date: Date, now: Date, formats: Formats): string {
  const elapsed = now.getTime() - date.getTime();
  if (Math.abs(elapsed) < HOUR_MS) return formats.minutes.format(-Math.trunc(elapsed / 60_000), 'minute');
  const days = daysBetween(date, now);
  if (Math.abs(days) <= 1) return `${formats.relativeDay.format(-days, 'day')}, ${formats.time.format(date)}`;
  if (days > 1 && days <= WEEKDAY_DAYS)
    return `${formats.weekday.format(date)}, ${formats.time.format(date)}`;
  return dateText(date, now, formats);
}

type Formats = ReturnType<typeof formatsOf>;

const formatsOf = (language: string | undefined) => ({
  minutes: new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }),
  relativeDay: new Intl.RelativeTimeFormat(language, { numeric: 'auto' }),
  time: new Intl.DateTimeFormat(language, { timeStyle: 'short' }),
  weekday: new Intl.DateTimeFormat(language, { weekday: 'short' }),
  dayOfYear: new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' }),
  day: new Intl.DateTimeFormat(language, { dateStyle: 'medium' }),
});

/** @returns texts of times and dates in a language, by default the browser's */
export function dateTexts(language?: string) {
  const formats = formatsOf(language);
  return {
    timeText: (date: Date, now = new Date()) => timeText(date, now, formats),
    dateText: (date: Date, now = new Date()) => dateText(date, now, formats),
  };
}

/** Units of an age, with their days and the days from which the next one is used. */
const AGE_UNITS = [
  ['h', 1 / 24, 1],
  ['d', 1, 14],
  ['wk', 7, 63],
  ['mo', 30.44, 730],
  ['y', 365.25, Infinity],
] as const;

/** @returns how long ago a date is, in its largest unit: "3 wk" */
export function ageText(date: Date, now = new Date()): string {
  const days = Math.max(0, (now.getTime() - date.getTime()) / DAY_MS);
  const [unit, length] = AGE_UNITS.find(([, , limit]) => days < limit) ?? AGE_UNITS[0];
  return `${Math.floor(days / length)} ${unit}`;
}
