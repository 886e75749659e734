import { caseFold } from 'unicode-case-folding';

const NON_ASCII = /[^\0-\u007F]/;
/**
 * Normalization sorts the combining marks after a letter in quadratic time: 64 Ki of them take a second. So insert a
 * combining grapheme joiner (U+034F) after every 30 marks, as Unicode's stream-safe text format does (UAX 15, section
 * 13).
 */
const MANY_MARKS = /\p{M}{30}(?=\p{M})/gu;

/**
 * Folds a text for case-insensitive comparison: NFC, Unicode's full case folding (`CaseFolding.txt`, C
 * and F), and NFC again. Not for email addresses, which are compared in lower case.
 */
export function foldCase(text: string): string {
  // Ten times faster for a long ASCII text.
  if (!NON_ASCII.test(text)) return text.toLowerCase();
  return text
    .replace(MANY_MARKS, '$&\u034F')
    .normalize('NFC')
    .replace(/[A-Z]+|[^\0-\u007F]+/g, caseFold)
    .normalize('NFC');
}

/** Hyphen-minus, hyphen and non-breaking hyphen. */
const HYPHENS = /[-\u2010\u2011]/g;

/** Folds a text for a search: as `foldCase`, and a hyphen becomes a space, so that "cross site" finds "Cross-site". */
export function foldForSearch(text: string): string {
  return foldCase(text).replace(HYPHENS, ' ');
}

/** Folds a name for comparison, without leading and trailing whitespace. */
export function foldName(name: string): string {
  return foldCase(name.trim());
}
