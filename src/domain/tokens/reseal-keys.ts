import type { KeyObject } from 'node:crypto';
import type { Attribution } from '../../auth/callers.ts';
import { masterKeyFingerprint } from '../../auth/master-key.ts';
import { seal, unseal } from '../../auth/sealing.ts';
import type { Transaction } from '../../db/engine.ts';
import { recordEvent } from '../audit/record-event.ts';
import { bumpSigningKeyVersion } from './credentials.ts';
import {
  KeysMissing,
  signingKeyPurpose,
  SECRET_PURPOSE,
  sealedSecret,
  MasterKeyMismatch,
} from './deployment-keys.ts';

/**
 * Seals every key with another master key. Instances that run go on with the keys that they have opened, and need the new
 * master key for the next one.
 * @param keysAtHand of which one is the master key that the keys are sealed with now
 * @returns the fingerprints of the master key before and now; `undefined` when it is that one already
 * @throws WrongMasterKey when it is none of those at hand, NoKeysYet when the database has no keys
 */
export async function resealKeys(
  tx: Transaction,
  act: Attribution,
  keysAtHand: readonly KeyObject[],
  next: KeyObject,
): Promise<{ before: string; after: string } | undefined> {
  await bumpSigningKeyVersion(tx);
  const sealed = await sealedSecret(tx);
  if (sealed === undefined) throw new KeysMissing('The database has no keys yet.');
  const before = sealed.master_fingerprint;
  const after = masterKeyFingerprint(next);
  if (before === after) return undefined;
  const previous = keysAtHand.find((key) => masterKeyFingerprint(key) === before);
  if (previous === undefined)
    throw new MasterKeyMismatch(before, keysAtHand[0] && masterKeyFingerprint(keysAtHand[0]));
  const again = (purpose: string, text: string): string => {
    const open = unseal(previous, purpose, text);
    if (open === undefined) throw new Error(`The ${purpose} in the database was changed.`);
    return seal(next, purpose, open);
  };
  await tx
    .updateTable('deployment_keys')
    .set({ master_fingerprint: after, sealed_secret: again(SECRET_PURPOSE, sealed.sealed_secret) })
    .execute();
  for (const { kid, sealed_key } of await tx
    .selectFrom('signing_keys')
    .select(['kid', 'sealed_key'])
    .execute())
    await tx
      .updateTable('signing_keys')
      .set({ sealed_key: again(signingKeyPurpose(kid), sealed_key) })
      .where('kid', '=', kid)
      .execute();
  await recordEvent(tx, act, {
    action: 'key.reseal',
    object: ['key', 'master'],
    organizationId: null,
    before: { fingerprint: before },
    after: { fingerprint: after },
  });
  return { before, after };
}
