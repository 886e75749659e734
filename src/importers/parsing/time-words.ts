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
export function monthOf(word: string): number | undefined {
  const [, number] = /^(\d{1,2})[月월]$/.exec(word) ?? [];
  return number === undefined ? MONTHS.get(simplify(word)) : Number(number) - 1;
}

function simplify(word: string): string {
  return word.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').replace('ß', 'ss');
}

/** UTC offsets in hours of the abbreviations of zones. Ambiguous ones have their most common meaning. */
// prettier-ignore
export const ZONES: Readonly<Record<string, number>> = {
  Z: 0, UT: 0, UTC: 0, GMT: 0,
  EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7, AKST: -9, AKDT: -8, HST: -10,
  BRT: -3, ART: -3, WET: 0, WEST: 1, BST: 1, CET: 1, CEST: 2, MEZ: 1, MESZ: 2, MET: 1, MEST: 2, EET: 2, EEST: 3,
  SAST: 2, MSK: 3, TRT: 3, GST: 4, PKT: 5, IST: 5.5, ICT: 7, WIB: 7, SGT: 8, HKT: 8, PHT: 8, AWST: 8, JST: 9, KST: 9,
  AEST: 10, AEDT: 11, NZST: 12, NZDT: 13,
};

/** @returns the offset in hours of a zone such as `Europe/Berlin` at a time; `undefined` if there is no such zone */
export function offsetOfZone(name: string, time: number): number | undefined {
  try {
    const format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
    const offset = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d{2}):(\d{2}))?$/.exec(offset) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) + Number(minutes) / 60);
  } catch {
    return undefined;
  }
}
