import { hash } from '@node-rs/argon2';

/** argon2id is the library's default algorithm. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** @returns the argon2id hash of a password, in PHC format, made on the thread pool */
export function hashPassword(password: string): Promise<string> {
  return hash(password, PARAMETERS);
}
