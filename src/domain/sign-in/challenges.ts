import { hashSecret } from '../../auth/secrets.ts';
import type { Transaction } from '../../db/engine.ts';

/**
 * Consumes a challenge: of two answers to it that come at once, one is taken.
 * @param endsAt until when an answer would be taken, and so how long this one is remembered
 * @returns whether nobody has answered it before
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
