import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';

/** argon2id is the library's default algorithm. */
const ARGON2_PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 256;
/** The longest that a form takes, to say of it that it is too long: a browser would cut it without a word. */
export const MAX_TYPED_PASSWORD_LENGTH = 1_024;

/** How many hashes are computed at once: one processor is left to answer everybody else. */
const MAX_CONCURRENT_HASHES = Math.max(1, availableParallelism() - 1);
/** How many wait for that. They keep their requests open meanwhile, so that one more is better told to come back. */
const MAX_QUEUED_HASHES = 64;
let running = 0;
const waiting: (() => void)[] = [];

/** So many passwords wait to be hashed that one more is not taken: worth another try later. */
export class PasswordQueueFull extends Error {
  override name = 'TooManyPasswords';
}

/**
 * To be called before an attempt is counted that could not be looked at.
 * @throws TooManyPasswords when nobody may wait any more
 */
export function requireHashCapacity(): void {
  if (running >= MAX_CONCURRENT_HASHES && waiting.length >= MAX_QUEUED_HASHES)
    throw new PasswordQueueFull(`${waiting.length} passwords wait to be hashed.`);
}

/** What a password is compared with when there is no account: it takes as long, and never matches. */
let decoy: Promise<string> | undefined;

/**
 * @returns the argon2id hash of a password, in PHC format, made on the thread pool. Keyboards differ in how they compose
 *   letters, so the password is normalised first.
 */
export function hashPassword(password: string): Promise<string> {
  return withHashSlot(() => hash(password.normalize('NFC'), ARGON2_PARAMETERS));
}

/**
 * Compares a password with a hash, in a time that does not tell whether there is one.
 * @param passwordHash `null` when nobody has that account, or it has no password: never right
 * @throws TooManyPasswords when too many wait
 */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  decoy ??= hash('a password that nobody has', ARGON2_PARAMETERS);
  // Waited for in either case, as the first time takes longer.
  const none = await decoy;
  const compared = passwordHash ?? none;
  return (await withHashSlot(() => verify(compared, password.normalize('NFC')))) && passwordHash !== null;
}

async function withHashSlot<T>(work: () => Promise<T>): Promise<T> {
  requireHashCapacity();
  if (running < MAX_CONCURRENT_HASHES) running += 1;
  // Whoever ends hands their turn over, so `running` stays.
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
