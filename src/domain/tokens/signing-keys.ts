import type { KeyObject } from 'node:crypto';
import type { Attribution } from '../../auth/callers.ts';
import type { PrivateKey, SigningKey } from '../../auth/keys.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { bumpSigningKeyVersion } from './credentials.ts';
import { lockKeys, insertSigningKey } from './deployment-keys.ts';

/**
 * How long after a key has a successor it may still sign, in milliseconds: for requests that were being answered, and
 * instances whose clocks differ.
 */
const ROTATION_GRACE = 15 * 60_000;

/**
 * @param keys newest first
 * @returns those that no valid token can need any more: the last token that one can have signed was made before its
 *   successor took over, or soon after
 */
export async function findUnusedKeys(
  db: ReadConnection,
  keys: readonly SigningKey[],
  now: number,
): Promise<SigningKey[]> {
  const oldest = await oldestToken(db, now);
  return keys.filter((_key, index) => {
    const successor = keys[index - 1];
    if (successor === undefined) return false;
    const retired = successor.createdAt + ROTATION_GRACE;
    return retired <= now && (oldest === null || oldest >= retired);
  });
}

/** @returns when the oldest of the access tokens was made that keys must still verify; `null` when there is none */
async function oldestToken(db: ReadConnection, now: number): Promise<number | null> {
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
 * Adds a key that signs from now on, and takes away those that no valid token needs any more.
 * @param key of which nothing is stored yet
 * @returns the kids of those that are taken away
 * @throws WrongMasterKey when the keys are not sealed with this master key
 */
export async function rotateSigningKey(
  tx: Transaction,
  act: Attribution,
  masterKey: KeyObject,
  key: PrivateKey,
): Promise<string[]> {
  await lockKeys(tx, masterKey);
  const [before] = await listSigningKeys(tx);
  await insertSigningKey(tx, masterKey, key, act.now);
  await recordEvent(tx, act, {
    action: 'key.rotate',
    object: ['key', key.kid],
    organizationId: null,
    before: before === undefined ? null : { kid: before.kid },
    after: { kid: key.kid },
  });
  const unused = await findUnusedKeys(tx, await listSigningKeys(tx), act.now);
  for (const { kid } of unused) await deleteSigningKey(tx, act, kid);
  return unused.map(({ kid }) => kid);
}

/**
 * Takes a signing key away: no token that it signed is accepted from now on.
 * @throws Failure `missing` for an unknown key, `conflict` for the one that signs
 */
export async function removeSigningKey(tx: Transaction, act: Attribution, kid: string): Promise<void> {
  await bumpSigningKeyVersion(tx);
  const keys = await listSigningKeys(tx);
  if (!keys.some((key) => key.kid === kid)) throw notFound('key');
  if (keys[0]?.kid === kid) throw new DomainError('conflict', { code: 'key-in-use' });
  await deleteSigningKey(tx, act, kid);
}

async function deleteSigningKey(tx: Transaction, act: Attribution, kid: string): Promise<void> {
  await tx.deleteFrom('signing_keys').where('kid', '=', kid).execute();
  await recordEvent(tx, act, {
    action: 'key.remove',
    object: ['key', kid],
    organizationId: null,
    before: { kid },
    after: null,
  });
}
