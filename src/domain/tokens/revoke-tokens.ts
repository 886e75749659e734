import type { ChangeContext } from '../../auth/callers.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { recordEvents } from '../audit/record-event.ts';

/** A token, the access tokens of grants, or those of a client: for some accounts, or for all without `userIds`. */
export type TokenSelection =
  { id: string } | { grantIds: readonly string[] } | { clientId: string; userIds?: readonly number[] };

/** A selected token that was not revoked before. It may have expired. */
export interface RevokedToken {
  id: string;
  /** `null` for tokens without an approval. */
  grant_id: string | null;
}

/**
 * Revokes tokens, and all tokens that were created with them, directly or indirectly. The caller records the revocation
 * of the selected ones, and calls `bumpCredentialVersion`.
 * @returns the selected tokens that were not revoked before
 */
export async function revokeTokens(
  tx: Transaction,
  by: ChangeContext,
  selection: TokenSelection,
): Promise<RevokedToken[]> {
  let query = revocation(tx, by.now).returning('grant_id');
  if ('id' in selection) query = query.where('id', '=', selection.id);
  else if ('grantIds' in selection) {
    const { grantIds } = selection;
    query = query.where((eb) => inList(tx, eb.ref('grant_id'), grantIds));
  } else {
    const { clientId, userIds } = selection;
    query = query.where('client_id', '=', clientId);
    if (userIds !== undefined) query = query.where((eb) => inList(tx, eb.ref('user_id'), userIds));
  }
  const selected = await query.execute();
  // On PostgreSQL, the update has waited for concurrent transactions that create tokens with these.
  let creators: { id: string }[] = selected;
  while (creators.length > 0) creators = await revokeMadeBy(tx, by, creators);
  return selected;
}

/** Revokes the tokens that were created with these. They belong to the same accounts. */
async function revokeMadeBy(
  tx: Transaction,
  by: ChangeContext,
  creators: readonly { id: string }[],
): Promise<{ id: string }[]> {
  const ids = creators.map(({ id }) => id);
  const revoked = await revocation(tx, by.now)
    .where((eb) => inList(tx, eb.ref('made_by'), ids))
    .returning(['made_by', 'user_id'])
    .execute();
  if (revoked.length === 0) return [];
  const users = await tx
    .selectFrom('users')
    .select(['id', 'organization_id'])
    .where((eb) => inList(tx, eb.ref('id'), [...new Set(revoked.map((token) => token.user_id))]))
    .execute();
  const organizations = new Map(users.map((user) => [user.id, user.organization_id]));
  await recordEvents(
    tx,
    revoked.map(({ id, made_by, user_id }) => ({
      by,
      change: {
        action: 'token.revoke',
        object: ['token', id],
        organizationId: organizations.get(user_id) ?? null,
        before: { revoked_at: null },
        after: { revoked_at: by.now, made_by },
      },
    })),
  );
  return revoked;
}

const revocation = (tx: Transaction, now: number) =>
  tx.updateTable('tokens').set({ revoked_at: now }).where('revoked_at', 'is', null).returning('id');

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
