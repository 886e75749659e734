import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './passwords.ts';

/** Of 0 to 4: fewer than 10^8 guesses is too few for a password that can be guessed at over the network and offline. */
const MIN_SCORE = 3;
/** Its cost grows with the square of the length, and what is longer is strong by what it begins with. */
const MAX_CHECKED = 100;

/** Words of this product, which nobody's password may be made of. */
const OWN_WORDS = ['assay', 'security', 'testing', 'pentest'];

const SEPARATORS = /[\s@.]+/g;

let estimator: Promise<ZxcvbnFactory> | undefined;

/**
 * Judges a new password by how it would be guessed: 49,000 passwords that are known from leaks, keyboard rows, dates,
 * repetitions, and the words given. There are no rules of composition (NIST SP 800-63B, section 3.1.1.2).
 * @param words the person's own: e-mail address, name, organization
 * @returns what is wrong with it, to stand beside the field; `undefined` when nothing is
 */
export async function passwordFault(password: string, words: readonly string[]): Promise<string | undefined> {
  const length = [...password].length;
  if (length < MIN_PASSWORD_LENGTH) return `Use at least ${MIN_PASSWORD_LENGTH} characters.`;
  if (password.length > MAX_PASSWORD_LENGTH) return `Use at most ${MAX_PASSWORD_LENGTH} characters.`;
  estimator ??= loadEstimator();
  const own = [
    ...OWN_WORDS,
    ...words.flatMap((text) => [text, text.replace(SEPARATORS, ''), ...text.split(SEPARATORS)]),
  ];
  const { score } = (await estimator).check(
    password.slice(0, MAX_CHECKED),
    own.filter((word) => word.length > 2),
  );
  return score >= MIN_SCORE
    ? undefined
    : 'This is too easy to guess. Use a longer one, such as four or more words that do not belong together.';
}

/** Loaded when it is first wanted, as its word lists take a start longer than everything else. */
async function loadEstimator(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory: Factory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new Factory({ dictionary, graphs: adjacencyGraphs });
}
