/** Names of the months in the languages in which tools and spreadsheets write them, without accents and dots. */
const MONTH_NAMES = [
  'january jan januar janner janvier janv enero ene gennaio gen janeiro januari stycznia sty 一月',
  'february feb februar feber fevrier fevr febrero febbraio fevereiro fev februari lutego lut 二月',
  'march mar marz maerz mrz mars marzo marco maart mrt marts marca 三月',
  'april apr avril avr abril abr aprile kwietnia kwi 四月',
  'may mai mayo maggio mag maio mei maja maj 五月',
  'june jun juni juin junio giugno giu junho czerwca cze 六月',
  'july jul juli juillet juil julio luglio lug julho lipca lip 七月',
  'august aug aout agosto ago augustus augusti sierpnia sie 八月',
  'september sep sept septembre septiembre setiembre settembre set setembro wrzesnia wrz 九月',
  'october oct oktober okt octobre octubre ottobre ott outubro out pazdziernika paz 十月',
  'november nov novembre noviembre novembro listopada lis 十一月',
  'december dec dezember dez decembre diciembre dic dicembre dezembro grudnia gru 十二月',
];

const MONTHS: ReadonlyMap<string, number> = new Map(
  MONTH_NAMES.flatMap((names, month) => names.split(' ').map((name): [string, number] => [name, month])),
);

/** @returns the month from 0, of a word in lower case without accents, or of `3月` */
export function monthOf(word: string): number | undefined {
  const [, number] = /^(\d{1,2})月$/.exec(word) ?? [];
  return number === undefined ? MONTHS.get(word) : Number(number) - 1;
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
