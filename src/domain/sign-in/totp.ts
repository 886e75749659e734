import { generateSecret, generateURI, verifySync } from 'otplib';
import type { ChangeContext } from '../../auth/callers.ts';
import { encryptSecret, decryptSecret } from '../../auth/encrypt-secret.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import {
  lockFactors,
  type FactorOwner,
  type StaffSecondFactor,
  handleRemovedFactor,
} from './second-factors.ts';

const PURPOSE = 'totp';
/** Seconds. An app's clock may be off by one step either way (RFC 6238, section 5.2). */
const STEP = 30;
/** Six digits, and some spaces. */
export const MAX_CODE_LENGTH = 32;
const CODE = /^\d{6}$/;

/** @returns a new secret: 160 bits in base32 */
export function generateTotpSecret(): string {
  return generateSecret();
}

/** @returns the `otpauth:` URI for the QR code */
export function totpUri(secret: string, email: string): string {
  return generateURI({ issuer: 'Assay', label: email, secret, period: STEP, digits: 6 });
}

/**
 * @param code as typed; spaces do not matter
 * @param now milliseconds
 * @returns the time step of the code (RFC 6238); `undefined` if it belongs to no step near now
 */
export function totpStep(secret: string, code: string, now: number): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  if (!CODE.test(token)) return undefined;
  const epoch = Math.floor(now / 1000);
  const result = verifySync({ secret, token, epoch, epochTolerance: STEP, period: STEP, digits: 6 });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}

/**
 * Adds an authenticator app whose first code was verified.
 * @param secretKey the secret of the deployment, which encrypts the app's secret
 * @param step the time step of that code, which is not accepted again
 * @throws DomainError `conflict` when the account has one
 */
export async function addTotp(
  tx: Transaction,
  by: ChangeContext,
  owner: FactorOwner,
  secretKey: Uint8Array,
  input: { secret: string; step: number },
): Promise<void> {
  await lockFactors(tx, owner);
  const added = await tx
    .insertInto('totp_secrets')
    .values({
      user_id: owner.userId,
      sealed_secret: encryptSecret(secretKey, PURPOSE, input.secret),
      confirmed_at: by.now,
      last_step: input.step,
    })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .returning('user_id')
    .executeTakeFirst();
  if (added === undefined) throw new DomainError('authenticator-exists');
  await recordEvent(tx, by, {
    action: 'totp.create',
    object: ['user', owner.userId],
    organizationId: owner.organizationId,
    before: null,
    after: null,
  });
}

/** Accepts a code once per time step, even if it is sent concurrently. */
export async function verifyTotp(
  db: Database,
  secretKey: Uint8Array,
  userId: number,
  code: string,
  now: number,
): Promise<boolean> {
  const row = await db.read
    .selectFrom('totp_secrets')
    .select('sealed_secret')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  const secret = row && decryptSecret(secretKey, PURPOSE, row.sealed_secret);
  const step = secret && totpStep(secret, code, now);
  if (row === undefined || step === undefined || step === '') return false;
  const used = await db.write((tx) =>
    tx
      .updateTable('totp_secrets')
      .set({ last_step: step })
      .where('user_id', '=', userId)
      // The app may have been replaced since the code was checked.
      .where('sealed_secret', '=', row.sealed_secret)
      .where('last_step', '<', step)
      .returning('user_id')
      .executeTakeFirst(),
  );
  return used !== undefined;
}

/**
 * @throws DomainError `not-found` when there is none; `forbidden` when it is the last factor and the account must
 *   have one
 */
export async function removeTotp(
  tx: Transaction,
  by: ChangeContext,
  owner: FactorOwner,
  staff: StaffSecondFactor,
): Promise<void> {
  await lockFactors(tx, owner);
  const removed = await tx
    .deleteFrom('totp_secrets')
    .where('user_id', '=', owner.userId)
    .returning('user_id')
    .executeTakeFirst();
  if (removed === undefined) throw notFound('authenticator app');
  await handleRemovedFactor(tx, owner, staff);
  await recordEvent(tx, by, {
    action: 'totp.delete',
    object: ['user', owner.userId],
    organizationId: owner.organizationId,
    before: null,
    after: null,
  });
}
