import { caseFold } from 'unicode-case-folding';

const NON_ASCII = /[^\0-\u007F]/;

/**
 * The form in which texts are compared without regard to case: NFC, Unicode's full case folding (`CaseFolding.txt`, C
 * and F), and NFC again. Not for e-mail addresses, which are compared in lower case.
 */
export function foldCase(text: string): string {
  // Ten times faster for a long text.
  if (!NON_ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFC')
    .replace(/[A-Z]+|[^\0-\u007F]+/g, caseFold)
    .normalize('NFC');
}

/** Folds a name for comparison, without outer space. */
export function foldName(name: string): string {
  return foldCase(name.trim());
}
