import type { KeyObject } from 'node:crypto';
import type { ChangeContext } from '../../auth/callers.ts';
import type { PrivateKey, SigningKey } from '../../auth/keys.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { bumpSigningKeyVersion } from './credentials.ts';
import { lockKeys, insertSigningKey } from './server-keys.ts';

/**
 * Milliseconds for which a key may sign after its successor was added, for requests in progress and differing clocks.
 */
const ROTATION_GRACE = 15 * 60_000;

/**
 * @param keys newest first
 * @returns the keys that no valid token needs: all valid tokens were issued after the key's successor was added and the
 *   grace period passed
 */
export async function findUnusedKeys(
  db: ReadConnection,
  keys: readonly SigningKey[],
  now: number,
): Promise<SigningKey[]> {
  const oldest = await oldestTokenTime(db, now);
  return keys.filter((_key, index) => {
    const successor = keys[index - 1];
    if (successor === undefined) return false;
    const retired = successor.createdAt + ROTATION_GRACE;
    return retired <= now && (oldest === null || oldest >= retired);
  });
}

/** @returns when the oldest valid access token was issued; `null` if there is none */
async function oldestTokenTime(db: ReadConnection, now: number): Promise<number | null> {
  const row = await db
    .selectFrom('tokens')
    .select((eb) => eb.fn.min('created_at').as('oldest'))
    .where('kind', '=', 'jwt')
    .where('expires_at', '>', now)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row?.oldest ?? null;
}

/** @returns the signing keys, newest first; the first one signs */
export async function listSigningKeys(db: ReadConnection): Promise<SigningKey[]> {
  return db
    .selectFrom('signing_keys')
    .select(['kid', 'created_at as createdAt'])
    .orderBy('number', 'desc')
    .execute();
}

/**
 * Adds a key that signs from now on, and removes keys that no valid token needs.
 * @param key is not stored yet
 * @returns the kids of the removed keys
 * @throws MasterKeyMismatch
 */
export async function rotateSigningKey(
  tx: Transaction,
  by: ChangeContext,
  masterKey: KeyObject,
  key: PrivateKey,
): Promise<string[]> {
  await lockKeys(tx, masterKey);
  const [current] = await listSigningKeys(tx);
  await insertSigningKey(tx, masterKey, key, by.now);
  await recordEvent(tx, by, {
    action: 'key.rotate',
    object: ['key', key.kid],
    organizationId: null,
    before: current === undefined ? null : { kid: current.kid },
    after: { kid: key.kid },
  });
  const unused = await findUnusedKeys(tx, await listSigningKeys(tx), by.now);
  for (const { kid } of unused) await deleteSigningKey(tx, by, kid);
  return unused.map(({ kid }) => kid);
}

/**
 * Removes a signing key and so invalidates its tokens.
 * @throws DomainError `not-found` for the key; `conflict` for the current one
 */
export async function removeSigningKey(tx: Transaction, by: ChangeContext, kid: string): Promise<void> {
  await bumpSigningKeyVersion(tx);
  const keys = await listSigningKeys(tx);
  if (!keys.some((key) => key.kid === kid)) throw notFound('key');
  if (keys[0]?.kid === kid) throw new DomainError('key-in-use');
  await deleteSigningKey(tx, by, kid);
}

async function deleteSigningKey(tx: Transaction, by: ChangeContext, kid: string): Promise<void> {
  await tx.deleteFrom('signing_keys').where('kid', '=', kid).execute();
  await recordEvent(tx, by, {
    action: 'key.remove',
    object: ['key', kid],
    organizationId: null,
    before: { kid },
    after: null,
  });
}
