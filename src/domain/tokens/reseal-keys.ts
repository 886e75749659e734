import type { KeyObject } from 'node:crypto';
import type { ChangeContext } from '../../auth/callers.ts';
import { masterKeyFingerprint } from '../../auth/master-key.ts';
import { encryptSecret, decryptSecret } from '../../auth/encrypt-secret.ts';
import type { Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { bumpSigningKeyVersion } from './credentials.ts';
import {
  KeysMissing,
  signingKeyPurpose,
  SECRET_PURPOSE,
  readEncryptedSecret,
  MasterKeyMismatch,
} from './server-keys.ts';

/**
 * Seals all keys with another master key. Running instances continue with the keys that they have opened, and need
 * the new master key to open the next one.
 * @param keysAtHand must contain the current master key
 * @returns the fingerprints of both master keys; `undefined` when the keys are encrypted with the new one already
 * @throws MasterKeyMismatch when the current master key is missing; KeysMissing when the database has no keys
 */
export async function resealKeys(
  tx: Transaction,
  by: ChangeContext,
  keysAtHand: readonly KeyObject[],
  next: KeyObject,
): Promise<{ before: string; after: string } | undefined> {
  await bumpSigningKeyVersion(tx);
  const encrypted = await readEncryptedSecret(tx);
  if (encrypted === undefined) throw new KeysMissing('The database has no keys yet.');
  const before = encrypted.master_fingerprint;
  const after = masterKeyFingerprint(next);
  if (before === after) return undefined;
  const previous = keysAtHand.find((key) => masterKeyFingerprint(key) === before);
  if (previous === undefined)
    throw new MasterKeyMismatch(before, keysAtHand[0] && masterKeyFingerprint(keysAtHand[0]));
  const reencrypt = (purpose: string, text: string): string => {
    const open = decryptSecret(previous, purpose, text);
    if (open === undefined) throw new Error(`The ${purpose} in the database was changed.`);
    return encryptSecret(next, purpose, open);
  };
  await tx
    .updateTable('deployment_keys')
    .set({ master_fingerprint: after, sealed_secret: reencrypt(SECRET_PURPOSE, encrypted.sealed_secret) })
    .execute();
  for (const { kid, sealed_key } of await tx
    .selectFrom('signing_keys')
    .select(['kid', 'sealed_key'])
    .execute())
    await tx
      .updateTable('signing_keys')
      .set({ sealed_key: reencrypt(signingKeyPurpose(kid), sealed_key) })
      .where('kid', '=', kid)
      .execute();
  await recordEvent(tx, by, {
    action: 'key.reseal',
    object: ['key', 'master'],
    organizationId: null,
    before: { fingerprint: before },
    after: { fingerprint: after },
  });
  return { before, after };
}
