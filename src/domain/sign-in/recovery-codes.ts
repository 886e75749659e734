import { randomInt } from 'node:crypto';
import type { ChangeContext } from '../../auth/callers.ts';
import { hashSecret } from '../../auth/secrets.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { consumeChallenge } from './challenges.ts';
import type { FactorOwner } from './second-factors.ts';

const COUNT = 10;
/** 120 bits, too many to guess even with the hashes (OWASP ASVS 5, 6.5.2). */
const LENGTH = 24;
const GROUP = 4;
/** Crockford's base32, without letters that look alike. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const FORM = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);
/** Milliseconds for which the server remembers that a session has used a code: longer than any request takes. */
const SESSION_MEMORY = 900_000;

/** Characters that are examined: a code with some extra spaces or dashes. */
export const MAX_RECOVERY_CODE_LENGTH = 64;

/** @returns ten new codes, formatted as `7k3f-09qd-…` */
export function generateRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => {
    const letters = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join(
      '',
    );
    return (letters.match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');
  });
}

/**
 * Replaces the recovery codes of a user.
 * @param codes the result of `generateRecoveryCodes`; only hashes are stored
 */
export async function replaceRecoveryCodes(
  tx: Transaction,
  by: ChangeContext,
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
  await recordEvent(tx, by, {
    action: 'recovery-codes.create',
    object: ['user', owner.userId],
    organizationId: owner.organizationId,
    before: null,
    after: { codes: codes.length },
  });
}

/**
 * Issues codes to a user who has none left, as with a first factor.
 * @returns whether the codes were issued and have to be shown
 */
export async function issueRecoveryCodesIfNoneLeft(
  tx: Transaction,
  by: ChangeContext,
  owner: FactorOwner,
  codes: readonly string[],
): Promise<boolean> {
  const unusedCode = await tx
    .selectFrom('recovery_codes')
    .select('code_hash')
    .where('user_id', '=', owner.userId)
    .where('used_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (unusedCode !== undefined) return false;
  await replaceRecoveryCodes(tx, by, owner, codes);
  return true;
}

/**
 * Accepts each recovery code once, and one code for each session, also of concurrent requests. The caller replaces the
 * session afterwards.
 * @param session the session in which the code was typed
 * @param code as typed: case, spaces, dashes, and letters that look like digits do not matter
 */
export async function redeemRecoveryCode(
  db: Database,
  by: ChangeContext,
  session: FactorOwner & { id: string },
  code: string,
): Promise<boolean> {
  if (!FORM.test(normalizeCode(code))) return false;
  const { id, userId, organizationId } = session;
  return db
    .write(async (tx) => {
      const used = await tx
        .updateTable('recovery_codes')
        .set({ used_at: by.now })
        .where('user_id', '=', userId)
        .where('code_hash', '=', hashOf(userId, code))
        .where('used_at', 'is', null)
        .returning('user_id')
        .executeTakeFirst();
      if (used === undefined) return false;
      if (!(await consumeChallenge(tx, `recovery code ${id}`, by.now + SESSION_MEMORY, by.now)))
        throw new AnotherCodeAccepted();
      await recordEvent(tx, by, {
        action: 'recovery-code.use',
        object: ['user', userId],
        organizationId,
        before: null,
        after: null,
      });
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof AnotherCodeAccepted) return false;
      throw error;
    });
}

/** Rolls back, so that the code stays unused. */
class AnotherCodeAccepted extends Error {
  override name = 'AnotherCodeAccepted';
}

/** The hash includes the user, so that a guess applies to one account only. */
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
