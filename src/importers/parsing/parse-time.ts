/** Earlier times are wrong: no supported scanner existed. */
const EARLIEST = Date.UTC(1995, 0, 1);
/** The end of the year 9999. */
const LATEST = 253_402_300_799_999;
/** Smaller numbers are seconds since 1970, larger ones milliseconds: as seconds the year 5138, as milliseconds 1973. */
const FEWEST_MILLISECONDS = 1e11;
const MAX_LENGTH = 100;

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?$/i;
/** `20240322`, `20240322T101500Z`. */
const COMPACT = /^(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})(Z|[+-]\d{2}:?\d{2})?)?$/i;
const CLOCK = /(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:[\s\u202F]?([ap])\.?[\s\u202F]?m\b\.?)?/i;

/** Whether `3/4/2024` begins with the day or the month. */
export type DateOrder = 'dmy' | 'mdy';

/**
 * Parses the times that tools and spreadsheets write: ISO 8601, RFC 5322, `Mon Jan  2 15:04:05 2023`, numeric dates,
 * dates with the name of a month in several languages, 12-hour clocks, offsets and zones, seconds or milliseconds since
 * 1970. Times without a zone are UTC.
 * @param order of day and month in dates such as `3/4/2024`
 * @returns milliseconds since 1970; `undefined` if absent, before 1995 or after 9999; NaN if it is not understood
 */
export function parseTime(value: unknown, order?: DateOrder): number | undefined {
  const time =
    typeof value === 'number'
      ? fromNumber(value)
      : typeof value === 'string'
        ? fromText(value, order)
        : undefined;
  if (time === undefined || Number.isNaN(time)) return time;
  return time >= EARLIEST && time <= LATEST ? time : undefined;
}

/** @returns the first time that is understood; NaN if none is, and one is present */
export function firstTime(...values: readonly unknown[]): number | undefined {
  const times = values.map((value) => parseTime(value));
  return times.find((time) => time !== undefined && !Number.isNaN(time)) ?? times.find(Number.isNaN);
}

/** @returns the order that a date such as `22/3/2024` shows; `open` if it may have either, `undefined` for others */
export function dateOrderOf(text: string): DateOrder | 'open' | undefined {
  const [, first, second, third] = NUMERIC.exec(text.trim()) ?? [];
  if (first === undefined) return undefined;
  const [firstNumber, secondNumber] = [Number(first), Number(second ?? third)];
  if (firstNumber > 12 !== secondNumber > 12) return firstNumber > 12 ? 'dmy' : 'mdy';
  return firstNumber === secondNumber || firstNumber > 12 ? undefined : 'open';
}

/** With dashes, a year of two digits could come first. */
const NUMERIC = /^(\d{1,2})(?:\/(\d{1,2})\/(?:\d{4}|\d{2})|-(\d{1,2})-\d{4})\b/;
/** Values that tools write for an unknown time. */
const NONE = /^(?:n\/?a|[-\u2013\u2014]{1,3}|unknown|never|none|null|nil|undefined|nan|0000-00-00.*)$/i;

function fromNumber(value: number): number | undefined {
  return Number.isFinite(value) ? Math.trunc(value < FEWEST_MILLISECONDS ? value * 1_000 : value) : undefined;
}

function fromText(value: string, order: DateOrder | undefined): number | undefined {
  const text = value.trim().replace(/^["']|["']$/g, '');
  if (text === '' || (text.length <= MAX_LENGTH && NONE.test(text))) return undefined;
  if (text.length > MAX_LENGTH) return Number.NaN;
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year, month, day, hour, minute, second, fraction, zone] = iso;
    return utc([year, Number(month) - 1, day], [hour, minute, second, fraction], offsetOf(zone ?? 'Z'));
  }
  const compact = COMPACT.exec(text);
  if (compact !== null) {
    const [, year, month, day, hour, minute, second, zone] = compact;
    const time = utc([year, Number(month) - 1, day], [hour, minute, second], offsetOf(zone ?? 'Z'));
    if (!Number.isNaN(time)) return time;
  }
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return fromNumber(Number(text));
  return fromWords(text, order);
}

type Digits = string | undefined;

/** Reads time of day, zone and date, in any order. */
function fromWords(text: string, order: DateOrder | undefined): number {
  const [, region] = /\[([A-Za-z_/+\d-]{1,60})\]/.exec(text) ?? [];
  const clock = CLOCK.exec(text);
  const rest = (clock === null ? text : text.replace(clock[0], ' ')).replace(/\[[^\]]{0,60}\]/, ' ');
  const [, hour, minute, second, fraction, dayPeriod] = clock ?? [];
  const offset = clock === null ? undefined : /(?:^|\s|GMT|UTC)([+-]\d{2}:?\d{2})(?=\s|$)/i.exec(rest);
  const words = (offset === null || offset === undefined ? rest : rest.replace(offset[0], ' ')).match(
    /\d{1,2}[月월]|\p{L}+|\d+|[/.-]/gu,
  );
  const zone = offset?.[1] ?? words?.find((word) => Object.hasOwn(ZONES, word));
  const date = dateFrom(rest.replace(offset?.[0] ?? '', ' '), words ?? [], order);
  if (date === undefined) return Number.NaN;
  const time = utc(date, [hourOf(hour, dayPeriod), minute, second, fraction], offsetOf(zone ?? 'Z'));
  if (zone !== undefined || region === undefined) return time;
  const hours = offsetOfZone(region, time);
  return hours === undefined ? Number.NaN : time - hours * 3_600_000;
}

/** @param dayPeriod `a` or `p` of a 12-hour clock */
function hourOf(hour: Digits, dayPeriod: Digits): Digits {
  if (dayPeriod === undefined) return hour;
  // Rejects `13:05 PM`.
  if (!(Number(hour) >= 1 && Number(hour) <= 12)) return 'invalid';
  const isAfternoon = dayPeriod.toLowerCase() === 'p';
  return String((Number(hour) % 12) + (isAfternoon ? 12 : 0));
}

type DateParts = readonly [year: Digits, month: number, day: Digits];

function dateFrom(
  text: string,
  words: readonly string[],
  order: DateOrder | undefined,
): DateParts | undefined {
  const trimmed = text.trim();
  const numeric = /^(?:\p{L}{1,12}[.,]{0,2} )?(\d{1,4})([/.-])(\d{1,2})\2(\d{1,4})(?=$|[\s,T])/u.exec(
    trimmed,
  );
  if (numeric !== null) {
    const [, first = '', separator, second = '', third = ''] = numeric;
    if (first.length === 4) return [first, Number(second) - 1, third];
    const year = separator === '-' && third.length < 4 ? undefined : yearOf(third);
    const dateOrder = separator === '.' ? 'dmy' : (orderFromNumbers(first, second) ?? order);
    if (year === undefined || dateOrder === undefined) return undefined;
    return dateOrder === 'dmy' ? [year, Number(second) - 1, first] : [year, Number(first) - 1, second];
  }
  // Weekdays may have the name of a month (`mar.`), and come before it.
  const month = words.map((word) => monthOf(word)).findLast((index) => index !== undefined);
  const numbers = words.filter((word) => /^\d+$/.test(word));
  const [first, second, extra] = numbers;
  if (month === undefined || first === undefined || second === undefined || extra !== undefined)
    return undefined;
  return first.length === 4 ? [first, month, second] : [yearOf(second), month, first];
}

/** @returns the order if a number is too large for a month, or if both are equal, so that the order does not matter */
function orderFromNumbers(first: string, second: string): DateOrder | undefined {
  if (Number(first) > 12 || first === second) return 'dmy';
  return Number(second) > 12 ? 'mdy' : undefined;
}

/** @param year four digits, or two for the years from 1970 to 2069 */
function yearOf(year: string): Digits {
  if (year.length === 4) return year;
  return year.length === 2 ? String((Number(year) < 70 ? 2_000 : 1_900) + Number(year)) : undefined;
}

/** @returns the UTC offset in hours; 0 for an unknown zone */
function offsetOf(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  if (hours !== undefined) return (sign === '-' ? -1 : 1) * (Number(hours) + Number(minutes) / 60);
  return ZONES[zone.toUpperCase()] ?? 0;
}

/** @returns NaN for an invalid date or time of day */
function utc(
  [year, month, day]: DateParts,
  [hour = '0', minute = '0', second = '0', fraction = '0']: readonly Digits[],
  offset: number,
): number {
  const [y, d, h, m, s] = [Number(year), Number(day), Number(hour), Number(minute), Number(second)];
  const midnight = Date.UTC(y, month, d);
  const date = new Date(midnight);
  if (date.getUTCMonth() !== month || date.getUTCDate() !== d || h > 24 || m > 59 || s > 60)
    return Number.NaN;
  const milliseconds = Math.trunc(Number(`0.${fraction}`) * 1_000);
  return midnight + ((h * 60 + m - offset * 60) * 60 + s) * 1_000 + milliseconds;
}

/** Names of the months in the languages in which tools and spreadsheets write them, without accents and dots. */
const MONTH_NAMES = [
  'january jan januar janner janvier janv enero ene gennaio gen janeiro januari stycznia sty января янв 一月',
  'february feb februar feber fevrier fevr febrero febbraio fevereiro fev februari lutego lut февраля фев февр 二月',
  'march mar marz maerz mrz mars marzo marco maart mrt marts marca марта мар 三月',
  'april apr avril avr abril abr aprile kwietnia kwi апреля апр 四月',
  'may mai mayo maggio mag maio mei maja maj мая май 五月',
  'june jun juni juin junio giugno giu junho czerwca cze июня июн 六月',
  'july jul juli juillet juil julio luglio lug julho lipca lip июля июл 七月',
  'august aug aout agosto ago augustus augusti sierpnia sie августа авг 八月',
  'september sep sept septembre septiembre setiembre settembre set setembro wrzesnia wrz сентября сен сент 九月',
  'october oct oktober okt octobre octubre ottobre ott outubro out pazdziernika paz октября окт 十月',
  'november nov novembre noviembre novembro listopada lis ноября ноя нояб 十一月',
  'december dec dezember dez decembre diciembre dic dicembre dezembro grudnia gru декабря дек 十二月',
];

const MONTHS: ReadonlyMap<string, number> = new Map(
  MONTH_NAMES.flatMap((names, month) =>
    names.split(' ').map((name): [string, number] => [simplify(name), month]),
  ),
);

/** @returns the month from 0, of a name in any case, or of `3月` */
function monthOf(word: string): number | undefined {
  const [, number] = /^(\d{1,2})[月월]$/.exec(word) ?? [];
  return number === undefined ? MONTHS.get(simplify(word)) : Number(number) - 1;
}

function simplify(word: string): string {
  return word.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').replace('ß', 'ss');
}

/** UTC offsets in hours of the abbreviations of zones. Ambiguous ones have their most common meaning. */
// prettier-ignore
const ZONES: Readonly<Record<string, number>> = {
  Z: 0, UT: 0, UTC: 0, GMT: 0,
  EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7, AKST: -9, AKDT: -8, HST: -10,
  BRT: -3, ART: -3, WET: 0, WEST: 1, BST: 1, CET: 1, CEST: 2, MEZ: 1, MESZ: 2, MET: 1, MEST: 2, EET: 2, EEST: 3,
  SAST: 2, MSK: 3, TRT: 3, GST: 4, PKT: 5, IST: 5.5, ICT: 7, WIB: 7, SGT: 8, HKT: 8, PHT: 8, AWST: 8, JST: 9, KST: 9,
  AEST: 10, AEDT: 11, NZST: 12, NZDT: 13,
};

/** @returns the offset in hours of a zone such as `Europe/Berlin` at a time; `undefined` if there is no such zone */
function offsetOfZone(name: string, time: number): number | undefined {
  try {
    const format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
    const offset = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d{2}):(\d{2}))?$/.exec(offset) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) + Number(minutes) / 60);
  } catch {
    return undefined;
  }
}
