/**
 * Characters that are invisible or change how text is displayed: controls, line and paragraph separators, lone
 * surrogates, byte order marks and bidirectional controls (UAX 9, section 2).
 */
const HIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
const HIDDEN_RUNS = new RegExp(`${HIDDEN.source}+`, 'gu');

/** Whether a text has 1 to `maxLength` UTF-16 units, none of them `HIDDEN`. */
export function isVisibleText(text: string, maxLength: number): boolean {
  return text !== '' && text.length <= maxLength && !HIDDEN.test(text);
}

/** Replaces each run of hidden characters with a space. */
export function replaceHiddenCharacters(text: string): string {
  return text.replace(HIDDEN_RUNS, ' ');
}
