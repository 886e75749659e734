import { caseFold } from 'unicode-case-folding';

const NON_ASCII = /[^\0-\u007F]/;
/**
 * Normalization sorts the marks after a letter in quadratic time, 64 Ki of them in a second. As in Unicode's stream-safe
 * text format (UAX 15, section 13), a joiner that does not move ends each 30 of them.
 */
const MANY_MARKS = /\p{M}{30}(?=\p{M})/gu;

/**
 * The form in which texts are compared without regard to case: NFC, Unicode's full case folding (`CaseFolding.txt`, C
 * and F), and NFC again. Not for email addresses, which are compared in lower case.
 */
export function foldCase(text: string): string {
  // Ten times faster for a long text.
  if (!NON_ASCII.test(text)) return text.toLowerCase();
  return text
    .replace(MANY_MARKS, '$&\u034F')
    .normalize('NFC')
    .replace(/[A-Z]+|[^\0-\u007F]+/g, caseFold)
    .normalize('NFC');
}

/** Folds a name for comparison, without outer space. */
export function foldName(name: string): string {
  return foldCase(name.trim());
}
