import type { AuthenticatorTransportFuture } from '@simplewebauthn/server';
import type { ChangeContext } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { requireName } from '../shared/names.ts';
import { consumeChallenge } from './challenges.ts';
import {
  lockFactors,
  type FactorOwner,
  type StaffSecondFactor,
  handleRemovedFactor,
} from './second-factors.ts';

const MAX_PASSKEYS = 20;

export interface ListedPasskey {
  /** The credential id, base64url. */
  id: string;
  name: string;
  createdAt: number;
  lastUsedAt: number | null;
  lastUsedFrom: string | null;
}

export interface PasskeyDescriptor {
  id: string;
  transports: AuthenticatorTransportFuture[];
}

export interface NewPasskey extends PasskeyDescriptor {
  /** COSE, base64url. */
  publicKey: string;
  /** The signature counter; 0 for authenticators without one. */
  counter: number;
  name: string;
  /** The challenge of the registration, and when it expires. */
  challenge: string;
  challengeExpiresAt: number;
}

/** @returns the passkeys of a user, oldest first */
export async function listPasskeys(db: ReadConnection, userId: number): Promise<ListedPasskey[]> {
  const rows = await db
    .selectFrom('passkeys')
    .select(['id', 'name', 'created_at', 'last_used_at', 'last_used_from'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    lastUsedFrom: row.last_used_from,
  }));
}

export async function hasPasskey(db: ReadConnection, userId: number, id: string): Promise<boolean> {
  return (await passkeyDescriptors(db, userId)).some((passkey) => passkey.id === id);
}

export async function passkeyDescriptors(db: ReadConnection, userId: number): Promise<PasskeyDescriptor[]> {
  const rows = await db
    .selectFrom('passkeys')
    .select(['id', 'transports'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ id, transports }) => ({
    id,
    transports: JSON.parse(transports) as AuthenticatorTransportFuture[],
  }));
}

/**
 * Adds a passkey whose registration was verified.
 * @throws DomainError `invalid` for its name; `conflict` when it exists, its challenge was used before, or the
 *   account has too many
 */
export async function addPasskey(
  tx: Transaction,
  by: ChangeContext,
  owner: FactorOwner,
  input: NewPasskey,
): Promise<void> {
  const name = requireName('name', input.name);
  if (!(await consumeChallenge(tx, input.challenge, input.challengeExpiresAt, by.now)))
    throw new DomainError('passkey-challenge-used');
  await lockFactors(tx, owner);
  const passkeys = await passkeyDescriptors(tx, owner.userId);
  if (passkeys.length >= MAX_PASSKEYS) throw new DomainError('too-many-passkeys', { max: MAX_PASSKEYS });
  const added = await tx
    .insertInto('passkeys')
    .values({
      id: input.id,
      user_id: owner.userId,
      public_key: input.publicKey,
      counter: input.counter,
      transports: JSON.stringify(input.transports),
      name,
      created_at: by.now,
      last_used_at: null,
      last_used_from: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added === undefined) throw new DomainError('passkey-exists');
  await recordEvent(tx, by, {
    action: 'passkey.create',
    object: ['passkey', input.id],
    organizationId: owner.organizationId,
    before: null,
    after: { user: owner.userId, name },
  });
}

/**
 * @throws DomainError `not-found` when the user has no such passkey; `forbidden` when it is the last factor and the
 *   account must have one
 */
export async function removePasskey(
  tx: Transaction,
  by: ChangeContext,
  owner: FactorOwner,
  id: string,
  staff: StaffSecondFactor,
): Promise<void> {
  await lockFactors(tx, owner);
  const removed = await tx
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('user_id', '=', owner.userId)
    .returning('name')
    .executeTakeFirst();
  if (removed === undefined) throw notFound('passkey');
  await handleRemovedFactor(tx, owner, staff);
  await recordEvent(tx, by, {
    action: 'passkey.delete',
    object: ['passkey', id],
    organizationId: owner.organizationId,
    before: { user: owner.userId, name: removed.name },
    after: null,
  });
}
