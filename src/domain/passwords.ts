import type { Actor } from '../auth/callers.ts';
import type { Transaction } from '../db/engine.ts';
import { recordChange } from './audit.ts';
import { missing } from './failure.ts';

/**
 * Gives an account another password. Its tokens stay good.
 * @param passwordHash argon2id, PHC format
 * @throws Failure `missing` for an unknown or banned user
 */
export async function setPassword(
  tx: Transaction,
  actor: Actor,
  userId: number,
  passwordHash: string,
  now: number,
): Promise<void> {
  const user = await tx
    .updateTable('users')
    .set({ password_hash: passwordHash })
    .where('id', '=', userId)
    .where('banned_at', 'is', null)
    .returning('organization_id')
    .executeTakeFirst();
  if (user === undefined) throw missing('user');
  await recordChange(tx, actor, {
    at: now,
    action: 'user.set-password',
    object: ['user', userId],
    organizationId: user.organization_id,
    before: null,
    after: null,
  });
}
