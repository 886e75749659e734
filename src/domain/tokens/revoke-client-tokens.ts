import type { Transaction } from '../../db/engine.ts';

/**
 * Revokes the access tokens of a client. The caller has to call `bumpCredentialVersion`.
 * @param userId of one account; `null` for all
 * @returns the number of revoked tokens
 */
export async function revokeClientAccessTokens(
  tx: Transaction,
  clientId: string,
  userId: number | null,
  now: number,
): Promise<number> {
  let query = tx
    .updateTable('tokens')
    .set({ revoked_at: now })
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null);
  if (userId !== null) query = query.where('user_id', '=', userId);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

/**
 * Revokes the refresh tokens of a client for an account.
 * @returns the number of revoked tokens
 */
export async function revokeClientRefreshTokens(
  tx: Transaction,
  clientId: string,
  userId: number,
  now: number,
): Promise<number> {
  let count = 0;
  for (;;) {
    const { numUpdatedRows } = await tx
      .updateTable('refresh_tokens')
      .set({ revoked_at: now })
      .where('user_id', '=', userId)
      .where('client_id', '=', clientId)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return count;
    // Repeat: on PostgreSQL, a concurrent rotation that this waited for has inserted a successor that the statement
    // did not see.
    count += Number(numUpdatedRows);
  }
}
