/** Letters of three by five pixels: each with a digit a row, whose three bits are its pixels from left to right. */
const FORMS =
  'A25755 B65656 C34443 D65556 E74747 F74744 G34553 H55755 I72227 J11152 K55655 L44447 M57755 N65555 O25552 P65644 ' +
  'Q25563 R65655 S34216 T72222 U55557 V55552 W55775 X55255 Y55222 Z71247 075557 126227 261247 361216 455711 574616 ' +
  '634757 771122 875757 975716 .00002 ,00024 :02020 ;02024 /11244 -00700 _00007 ?61202 =07070 \'22000 "55000 (12221 ' +
  ')42224 <12421 >42124 %51245 +02720 &25253 !22202 *05250 [64446 ]31113 {32623 }62326 @25747 #57575 |22222 $36736';

const LETTERS: ReadonlyMap<string, string> = new Map(
  FORMS.split(' ').map((form) => [form.charAt(0), form.slice(1)]),
);

export const LETTER = { width: 3, height: 5 } as const;

/** @returns whether a letter is dark there; what has no form is a question mark */
export function isDark(letter: string, x: number, y: number): boolean {
  if (letter === ' ') return false;
  const rows = LETTERS.get(letter.toUpperCase()) ?? LETTERS.get('?') ?? '';
  return ((Number(rows[y]) >> (LETTER.width - 1 - x)) & 1) === 1;
}
