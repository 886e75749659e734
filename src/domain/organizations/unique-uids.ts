import { randomInt } from 'node:crypto';
import { isMemberOf, type Principal } from '../../auth/callers.ts';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const SUFFIX_LENGTH = 4;
/** Characters in the uid of an organization or an assessment. */
const MAX_LENGTH = 50;

/** @returns random characters of `[0-9a-z]` */
export function randomUid(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/**
 * Inserts a row with a uid that is unique in the installation. Callers who do not see every organization always get
 * random characters at its end, so that a taken uid does not reveal an organization or assessment of others.
 * @param separator before the random characters
 * @param insert resolves with `undefined` when the uid is taken
 * @returns the row; `undefined` if the exact uid was tried and is taken
 */
export async function insertWithUniqueUid<Row>(
  caller: Principal,
  uid: string,
  separator: string,
  insert: (uid: string) => Promise<Row | undefined>,
): Promise<Row | undefined> {
  if (isMemberOf(caller, null)) return insert(uid);
  const prefix = uid.slice(0, MAX_LENGTH - separator.length - SUFFIX_LENGTH);
  for (;;) {
    const row = await insert(`${prefix}${separator}${randomUid(SUFFIX_LENGTH)}`);
    if (row !== undefined) return row;
  }
}
