import type { Act } from '../../auth/callers.ts';
import type { SigningKey } from '../../auth/keys.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { recordChange } from '../shared/audit.ts';

/**
 * How long after a key has a successor it may still sign, in milliseconds: for requests that were being answered, and
 * instances whose clocks differ.
 */
const GRACE = 15 * 60_000;

/**
 * @param keys newest first, as the folder has them
 * @returns those that no valid token can need any more: the last token that one can have signed was made before its
 *   successor took over, or soon after
 */
export async function keysOutOfUse(
  db: Reader,
  keys: readonly SigningKey[],
  now: number,
): Promise<SigningKey[]> {
  const oldest = await oldestToken(db, now);
  return keys.filter((_key, index) => {
    const successor = keys[index - 1];
    if (successor === undefined) return false;
    const retired = successor.createdAt + GRACE;
    return retired <= now && (oldest === null || oldest >= retired);
  });
}

/** @returns when the oldest of the access tokens was made that keys must still verify; `null` when there is none */
async function oldestToken(db: Reader, now: number): Promise<number | null> {
  const row = await db
    .selectFrom('tokens')
    .select((eb) => eb.fn.min('created_at').as('oldest'))
    .where('kind', '=', 'jwt')
    .where('expires_at', '>', now)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row?.oldest ?? null;
}

/** Writes down that another key signs from now on. */
export async function recordRotation(
  tx: Transaction,
  act: Act,
  { before, after }: { before: string | null; after: string },
): Promise<void> {
  await recordChange(tx, act, {
    action: 'key.rotate',
    object: ['key', after],
    organizationId: null,
    before: before === null ? null : { kid: before },
    after: { kid: after },
  });
}

/** Writes down that a key was taken away. */
export async function recordRemoval(tx: Transaction, act: Act, kid: string): Promise<void> {
  await recordChange(tx, act, {
    action: 'key.remove',
    object: ['key', kid],
    organizationId: null,
    before: { kid },
    after: null,
  });
}
