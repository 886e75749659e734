/** No supported scanner existed before. */
const EARLIEST = Date.UTC(1995, 0, 1);
/** The end of the year 9999. */
const LATEST = 253_402_300_799_999;
/** Smaller numbers are seconds since 1970, larger ones milliseconds: as seconds the year 5138, as milliseconds 1973. */
const FEWEST_MILLISECONDS = 1e11;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?$/i;
/** RFC 5322, section 3.3, with or without the weekday. */
const MAIL =
  /^(?:[a-z]{3,9},? )?(\d{1,2}) ([a-z]{3})[a-z]* (\d{4}),? (\d{2}):(\d{2})(?::(\d{2}))? ?(Z|UTC|GMT|UT|[+-]\d{2}:?\d{2})?$/i;
/** As C's `ctime` writes it, with or without a zone before the year. */
const CTIME =
  /^(?:[a-z]{3,9},? )?([a-z]{3})[a-z]* (\d{1,2}) (\d{2}):(\d{2}):(\d{2}) ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})? ?(\d{4}) ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$/i;

/**
 * Parses the time formats of reports: ISO 8601, RFC 5322, `Mon Jan  2 15:04:05 2023`, seconds or milliseconds since
 * 1970. Times without a zone are UTC.
 * @param until the latest valid time, in milliseconds
 * @returns milliseconds since 1970; `undefined` if invalid, before 1995 or after `until`
 */
export function parseTime(value: unknown, until = LATEST): number | undefined {
  const time =
    typeof value === 'number' ? fromNumber(value) : typeof value === 'string' ? fromText(value) : undefined;
  return time !== undefined && time >= EARLIEST && time <= until ? time : undefined;
}

function fromNumber(value: number): number {
  return Math.trunc(value < FEWEST_MILLISECONDS ? value * 1_000 : value);
}

function fromText(value: string): number | undefined {
  if (value.length > 100) return undefined;
  const text = value.trim().replace(/\s+/g, ' ');
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return fromNumber(Number(text));
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year, month, day, hour, minute, second, fraction = '', zone] = iso;
    const time = utc(year, Number(month) - 1, day, hour, minute, second, zone);
    return time === undefined ? undefined : time + Math.trunc(Number(`0.${fraction || '0'}`) * 1_000);
  }
  const mail = MAIL.exec(text);
  if (mail !== null) {
    const [, day, month, year, hour, minute, second, zone] = mail;
    return utc(year, monthOf(month), day, hour, minute, second, zone);
  }
  const ctime = CTIME.exec(text);
  if (ctime === null) return undefined;
  const [, month, day, hour, minute, second, before, year, after] = ctime;
  return utc(year, monthOf(month), day, hour, minute, second, before ?? after);
}

const monthOf = (name = ''): number => MONTHS.indexOf(name.toLowerCase());

/** @returns `undefined` for an invalid date or time of day */
function utc(
  year: string | undefined,
  month: number,
  day: string | undefined,
  hour = '0',
  minute = '0',
  second = '0',
  zone = 'Z',
): number | undefined {
  const [y, d, h, m, s] = [Number(year), Number(day), Number(hour), Number(minute), Number(second)];
  const midnight = Date.UTC(y, month, d);
  const date = new Date(midnight);
  if (date.getUTCMonth() !== month || date.getUTCDate() !== d || h > 24 || m > 59 || s > 60) return undefined;
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return midnight + ((h * 60 + m - offset) * 60 + s) * 1_000;
}
