import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { memoizeAsync } from '../lib/memoize-async.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './passwords.ts';

/** A score from 0 to 4. A score of 3 takes at least 10^8 guesses, which resists guessing online and offline. */
const MIN_SCORE = 3;
/** Checking blocks the event loop, and its cost is quadratic. A longer password is judged by its first characters. */
const MAX_CHECKED_LENGTH = 40;
/** Variants of digits read as letters; each costs a full check. */
const MAX_SUBSTITUTIONS = 16;

/** Words of this product, which do not strengthen a password. */
const OWN_WORDS = ['assay', 'security', 'testing', 'pentest'];

const MIN_WORD_LENGTH = 3;
const SEPARATORS = /[^\p{L}\p{N}]+/gu;

/** Characters that stand for letters. `1` stands for `i` and `l`, so both fold to `i`. */
const SUBSTITUTIONS: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  '!': 'i',
  '|': 'i',
  l: 'i',
  3: 'e',
  '€': 'e',
  4: 'a',
  '@': 'a',
  5: 's',
  $: 's',
  7: 't',
  '+': 't',
  8: 'b',
};

/**
 * Estimates how hard a new password is to guess from 49,000 leaked passwords, keyboard rows, dates and repetitions.
 * Ignores the given words: the rest must be strong enough. There are no composition rules (NIST SP 800-63B, section
 * 3.1.1.2).
 * @param words the user's email address, name and organization
 * @returns the error to show beside the field; `undefined` for a good password
 */
export async function validatePassword(typed: string, words: readonly string[]): Promise<string | undefined> {
  // As `hashPassword` does.
  const password = typed.normalize('NFC');
  const length = [...password].length;
  if (length < MIN_PASSWORD_LENGTH) return `Use at least ${MIN_PASSWORD_LENGTH} characters.`;
  if (password.length > MAX_PASSWORD_LENGTH) return `Use at most ${MAX_PASSWORD_LENGTH} characters.`;
  const ownWords = [...OWN_WORDS, ...words.flatMap(splitIntoWords)].filter(
    (word) => [...word].length >= MIN_WORD_LENGTH,
  );
  const { score } = (await loadEstimator()).check(
    removeWords(password, ownWords).slice(0, MAX_CHECKED_LENGTH),
    ownWords.map((word) => word.slice(0, MAX_CHECKED_LENGTH)),
  );
  return score >= MIN_SCORE
    ? undefined
    : 'This password is too easy to guess. Use a longer one, such as four or more unrelated words.';
}

/** @returns the text and each of its words */
function splitIntoWords(text: string): string[] {
  const composed = text.normalize('NFC');
  return [composed, ...composed.split(SEPARATORS)];
}

/** Removes these words, in any spelling, forwards and backwards. */
function removeWords(password: string, words: readonly string[]): string {
  const letters = [...password];
  const text = foldCharacters(password);
  const isLeft = letters.map(() => true);
  for (const word of words.map(foldCharacters)) {
    for (const variant of [word, word.toReversed()]) {
      for (let start = 0; start + variant.length <= text.length; start += 1)
        if (variant.every((letter, index) => letter === text[start + index]))
          isLeft.fill(false, start, start + variant.length);
    }
  }
  return letters.filter((_letter, index) => isLeft[index]).join('');
}

/** Folds each character: lower case, without accents, substitutes as the letter they stand for. */
function foldCharacters(text: string): string[] {
  return Array.from(text, (character) => {
    const [letter = character] = character.normalize('NFKD').toLowerCase();
    return SUBSTITUTIONS[letter] ?? letter;
  });
}

/** Loaded on first use: its word lists would take longer than the rest of the start. */
const loadEstimator = memoizeAsync(async (): Promise<ZxcvbnFactory> => {
  const [{ ZxcvbnFactory: Factory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new Factory({ dictionary, graphs: adjacencyGraphs, l33tMaxSubstitutions: MAX_SUBSTITUTIONS });
});
