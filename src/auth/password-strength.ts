import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './passwords.ts';

/** Of 0 to 4: fewer than 10^8 guesses is too few for a password that can be guessed at over the network and offline. */
const MIN_SCORE = 3;
/**
 * Its cost grows with the square of the length, and nobody else is answered meanwhile. What is longer is strong by what
 * it begins with.
 */
const MAX_CHECKED_LENGTH = 40;
/** Ways to read digits as letters that are tried; each costs as much as the first. */
const MAX_SUBSTITUTIONS = 16;

/** Words of this product, which nobody's password may be made of. */
const OWN_WORDS = ['assay', 'security', 'testing', 'pentest'];

const MIN_WORD_LENGTH = 3;
const SEPARATORS = /[^\p{L}\p{N}]+/gu;

/** What stands for a letter in passwords; `1` is read as either of two, so these two are one here. */
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

let estimator: Promise<ZxcvbnFactory> | undefined;

/**
 * Judges a new password by how it would be guessed: 49,000 passwords that are known from leaks, keyboard rows, dates,
 * repetitions, and the words given, which count for nothing: what is left without them has to be enough. There are no
 * rules of composition (NIST SP 800-63B, section 3.1.1.2).
 * @param words the person's own: e-mail address, name, organization
 * @returns what is wrong with it, to stand beside the field; `undefined` when nothing is
 */
export async function validatePassword(
  password: string,
  words: readonly string[],
): Promise<string | undefined> {
  const length = [...password].length;
  if (length < MIN_PASSWORD_LENGTH) return `Use at least ${MIN_PASSWORD_LENGTH} characters.`;
  if (password.length > MAX_PASSWORD_LENGTH) return `Use at most ${MAX_PASSWORD_LENGTH} characters.`;
  estimator ??= loadEstimator();
  const own = [...OWN_WORDS, ...words.flatMap((text) => [text, ...text.split(SEPARATORS)])].filter(
    (word) => [...word].length >= MIN_WORD_LENGTH,
  );
  const { score } = (await estimator).check(
    removeWords(password, own).slice(0, MAX_CHECKED_LENGTH),
    own.map((word) => word.slice(0, MAX_CHECKED_LENGTH)),
  );
  return score >= MIN_SCORE
    ? undefined
    : 'This is too easy to guess. Use a longer one, such as four or more words that do not belong together.';
}

/** @returns the password without these words, however they are written, forwards and backwards */
function removeWords(password: string, words: readonly string[]): string {
  const letters = [...password];
  const text = foldCharacters(password);
  const left = letters.map(() => true);
  for (const word of words.map(foldCharacters)) {
    for (const one of [word, word.toReversed()]) {
      for (let at = 0; at + one.length <= text.length; at += 1)
        if (one.every((letter, index) => letter === text[at + index])) left.fill(false, at, at + one.length);
    }
  }
  return letters.filter((_letter, index) => left[index]).join('');
}

/** @returns one sign for each: small, without accents, and as the letter that it stands for */
function foldCharacters(text: string): string[] {
  return Array.from(text, (sign) => {
    const [letter = sign] = sign.normalize('NFKD').toLowerCase();
    return SUBSTITUTIONS[letter] ?? letter;
  });
}

/** Loaded when it is first wanted, as its word lists take a start longer than everything else. */
async function loadEstimator(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory: Factory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new Factory({ dictionary, graphs: adjacencyGraphs, l33tMaxSubstitutions: MAX_SUBSTITUTIONS });
}
