import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { memoizeAsync } from '../lib/memoize-async.ts';
import { Semaphore } from '../lib/semaphore.ts';

/** argon2id is the library's default algorithm. */
const ARGON2_PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 256;
/** The `maxlength` of forms. Longer than the limit, as a browser truncates silently where the server can explain. */
export const MAX_TYPED_PASSWORD_LENGTH = 1_024;

/** Leaves one processor to serve other requests. */
const MAX_CONCURRENT_HASHES = Math.max(1, availableParallelism() - 1);
/** A waiting password keeps its request open, so further ones are rejected immediately. */
const MAX_QUEUED_HASHES = 64;

/** Too many passwords are waiting to be hashed. A retry may succeed. */
export class PasswordQueueFull extends Error {
  override name = 'PasswordQueueFull';
}

/** Shared by the whole process, because it limits the use of its processors. */
const hashing = new Semaphore({
  permits: MAX_CONCURRENT_HASHES,
  maxWaiting: MAX_QUEUED_HASHES,
  createError: (waiting) => new PasswordQueueFull(`${waiting} passwords are waiting to be hashed.`),
});

/**
 * Checks that the queue has room for a password. Call it before an attempt is counted, so that an attempt that a full
 * queue rejects does not count.
 * @throws PasswordQueueFull
 */
export function requireHashCapacity(): void {
  hashing.requireCapacity();
}

/** Compared with the passwords of unknown accounts: takes the same time and never matches. */
const decoyHash = memoizeAsync(() => hash('a password without an account', ARGON2_PARAMETERS));

/**
 * Hashes a password with argon2id on the thread pool, as a PHC string. Normalizes the password first, as keyboards
 * differ in how they compose characters.
 * @throws PasswordQueueFull
 */
export function hashPassword(password: string): Promise<string> {
  return hashing.run(() => hash(password.normalize('NFC'), ARGON2_PARAMETERS));
}

/**
 * Compares a password with a hash, in a time that does not reveal whether there is one.
 * @param passwordHash `null` if there is no such account, or it has no password: never matches
 * @throws PasswordQueueFull
 */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  // Awaited in either case, as the first call takes longer.
  const decoy = await decoyHash();
  const comparedHash = passwordHash ?? decoy;
  const matches = await hashing.run(() => verify(comparedHash, password.normalize('NFC')));
  return matches && passwordHash !== null;
}
