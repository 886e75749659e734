const DAY = 86_400_000;
const padded = (width: number, count: number): string[] =>
  Array.from({ length: count }, (_, number) => String(number).padStart(width, '0'));
const TWO = padded(2, 60);
const THREE = padded(3, 1_000);

let knownDay = Number.NaN;
let knownDate = '';

/**
 * ISO 8601 in UTC with milliseconds, as `Date.toISOString` has it. A page has a hundred times, most of them of few
 * days: formatting the date once a day takes a tenth of the time.
 * @param milliseconds since 1970, a whole number
 */
export function isoTime(milliseconds: number): string {
  const day = Math.floor(milliseconds / DAY);
  if (day !== knownDay) {
    knownDate = new Date(milliseconds).toISOString().slice(0, -'00:00:00.000Z'.length);
    knownDay = day;
  }
  const rest = milliseconds - day * DAY;
  const hour = TWO[Math.floor(rest / 3_600_000)];
  const minute = TWO[Math.floor(rest / 60_000) % 60];
  const second = TWO[Math.floor(rest / 1_000) % 60];
  return `${knownDate}${hour}:${minute}:${second}.${THREE[rest % 1_000]}Z`;
}
