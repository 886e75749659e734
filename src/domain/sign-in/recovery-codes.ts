import { randomInt } from 'node:crypto';
import type { Attribution } from '../../auth/callers.ts';
import { hashSecret } from '../../auth/secrets.ts';
import type { Database, Transaction } from '../../db/engine.ts';
import { recordEvent } from '../audit/record-event.ts';
import type { FactorOwner } from './second-factors.ts';

const COUNT = 10;
/** 120 bits: too many to try, also for whoever has the hashes (OWASP ASVS 5, 6.5.2). */
const LENGTH = 24;
const GROUP = 4;
/** Crockford's base32, which has no letters that look like others. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const FORM = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** The longest text that is looked at: a code with some spaces or dashes too many. */
export const MAX_RECOVERY_CODE_LENGTH = 64;

/** @returns ten new codes, as people read them: `7k3f-09qd-…` */
export function generateRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => {
    const letters = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join(
      '',
    );
    return (letters.match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');
  });
}

/**
 * Gives a user these codes and no others: older ones are good for nothing.
 * @param codes from `newRecoveryCodes`; stored as hashes only
 */
export async function replaceRecoveryCodes(
  tx: Transaction,
  act: Attribution,
  owner: FactorOwner,
  codes: readonly string[],
): Promise<void> {
  await tx.deleteFrom('recovery_codes').where('user_id', '=', owner.userId).execute();
  await tx
    .insertInto('recovery_codes')
    .values(
      codes.map((code) => ({ user_id: owner.userId, code_hash: hashOf(owner.userId, code), used_at: null })),
    )
    .execute();
  await recordEvent(tx, act, {
    action: 'recovery-codes.create',
    object: ['user', owner.userId],
    organizationId: owner.organizationId,
    before: null,
    after: { codes: codes.length },
  });
}

/**
 * The same for a user who has none left, as with a first factor.
 * @returns whether they got these codes, which are then to be shown
 */
export async function issueFirstRecoveryCodes(
  tx: Transaction,
  act: Attribution,
  owner: FactorOwner,
  codes: readonly string[],
): Promise<boolean> {
  const left = await tx
    .selectFrom('recovery_codes')
    .select('code_hash')
    .where('user_id', '=', owner.userId)
    .where('used_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (left !== undefined) return false;
  await replaceRecoveryCodes(tx, act, owner, codes);
  return true;
}

/**
 * Accepts a recovery code, once: of two that come at once, one is right.
 * @param code as it was typed: case, spaces and dashes do not matter, nor do letters that look like digits
 * @returns whether it was right
 */
export async function redeemRecoveryCode(
  db: Database,
  act: Attribution,
  owner: FactorOwner,
  code: string,
): Promise<boolean> {
  if (!FORM.test(normalizeCode(code))) return false;
  return db.write(async (tx) => {
    const used = await tx
      .updateTable('recovery_codes')
      .set({ used_at: act.now })
      .where('user_id', '=', owner.userId)
      .where('code_hash', '=', hashOf(owner.userId, code))
      .where('used_at', 'is', null)
      .returning('user_id')
      .executeTakeFirst();
    if (used === undefined) return false;
    await recordEvent(tx, act, {
      action: 'recovery-code.use',
      object: ['user', owner.userId],
      organizationId: owner.organizationId,
      before: null,
      after: null,
    });
    return true;
  });
}

/** The user is part of it, so that nobody tries codes on all accounts at once. */
function hashOf(userId: number, code: string): string {
  return hashSecret(`recovery code ${userId} ${normalizeCode(code)}`);
}

function normalizeCode(code: string): string {
  return code
    .toLowerCase()
    .replaceAll(/[\s\-–—]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1');
}
