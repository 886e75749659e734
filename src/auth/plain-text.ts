/**
 * Characters that people do not see, or that make text read as another one: controls, line and paragraph separators,
 * halves of surrogate pairs, marks of byte order and of the direction of writing (UAX 9, section 2).
 */
const HIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
const HIDDEN_RUNS = new RegExp(`${HIDDEN.source}+`, 'gu');

/** @returns whether a text that others wrote has 1 to `most` characters, all of them to be seen as they stand */
export function isPlainText(text: string, most: number): boolean {
  return text !== '' && text.length <= most && !HIDDEN.test(text);
}

/** @returns the text with a space in place of what cannot be seen */
export function replaceHiddenCharacters(text: string): string {
  return text.replace(HIDDEN_RUNS, ' ');
}
