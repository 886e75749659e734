import { hashSecret } from '../../auth/secrets.ts';
import type { Transaction } from '../../db/database.ts';

/**
 * Consumes a challenge, so that only one of several concurrent responses is accepted.
 * @param endsAt when the challenge expires, and how long it is remembered
 * @returns false when it was consumed before
 */
export async function consumeChallenge(
  tx: Transaction,
  challenge: string,
  endsAt: number,
  now: number,
): Promise<boolean> {
  await tx.deleteFrom('used_challenges').where('ends_at', '<=', now).execute();
  const consumed = await tx
    .insertInto('used_challenges')
    .values({ challenge_hash: hashSecret(challenge), ends_at: endsAt })
    .onConflict((conflict) => conflict.column('challenge_hash').doNothing())
    .returning('challenge_hash')
    .executeTakeFirst();
  return consumed !== undefined;
}
