/** Path ids that no row can have, of every kind that could cause a database error. */
export const INVALID_IDS = [
  '0',
  '-1',
  '01',
  '1.0',
  '1e3',
  '+1',
  'abc',
  '%20',
  '%00',
  '1%00',
  '%ED%95%9C',
  '%F0%9F%92%A9',
  '9007199254740993',
  '9223372036854775808',
  "1'%20or%20'1'='1",
  'x'.repeat(4_000),
];

/** Texts on more than one line, or with control characters (C0, DEL, C1). */
export const UNPRINTABLE_NAMES = [
  'a\nb',
  'a\r\nb',
  'a\tb',
  'a\x1bb',
  'a\x7fb',
  'a\x85b',
  'a\u2028b',
  'a\u2029b',
];

/** Names that are not 1 to 255 characters after trimming, on one line, or that a database cannot store. */
export const INVALID_NAMES = [
  '',
  '   ',
  '\t\n',
  'x'.repeat(256),
  'x'.repeat(3_000),
  'nul\0',
  '\ud800',
  ...UNPRINTABLE_NAMES,
];
