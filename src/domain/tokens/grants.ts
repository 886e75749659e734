import type { Attribution } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { prepareQuery, prepareRowCount } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { bumpCredentialVersion } from './credentials.ts';
import { revokeTokens } from './revoke-tokens.ts';

/** Why a grant ended. */
export type RevocationReason =
  /** A code was used twice (RFC 6749, section 4.1.2). */
  | 'code-reused'
  /** A refresh token was used after its successor was issued (RFC 9700, section 4.14.2). */
  | 'refresh-token-reused'
  /** The client revoked a refresh token (RFC 7009, section 2.1). */
  | 'revoked-by-client';

export interface Grant {
  grantId: string;
  userId: number;
  clientId: string;
}

const revokeRefreshTokens = prepareRowCount<{ grant: string; now: number }>((tx, p) =>
  tx
    .updateTable('refresh_tokens')
    .set({ revoked_at: p.now })
    .where('grant_id', '=', p.grant)
    .where('revoked_at', 'is', null),
);

const organizationOf = prepareQuery<{ user: number }, { organization_id: number | null }>((db, p) =>
  db.selectFrom('users').select('organization_id').where('id', '=', p.user),
);

/**
 * Revokes all access tokens and refresh tokens of a grant.
 * @returns false when none was left
 */
export async function revokeGrant(
  tx: Transaction,
  by: Attribution,
  { grantId, userId, clientId }: Grant,
  reason: RevocationReason,
): Promise<boolean> {
  const key = { grant: grantId, now: by.now };
  let refreshTokens = await revokeRefreshTokens(tx, key);
  // On PostgreSQL, a concurrent rotation that this waited for has inserted a successor that the statement did not
  // see.
  for (let more = refreshTokens; more > 0; refreshTokens += more) more = await revokeRefreshTokens(tx, key);
  const accessTokens = await revokeTokens(tx, by, { grantId });
  if (refreshTokens + accessTokens === 0) return false;
  await bumpCredentialVersion(tx);
  const [user] = await organizationOf(tx, { user: userId });
  await recordEvent(tx, by, {
    action: 'grant.revoke',
    object: ['grant', grantId],
    organizationId: user?.organization_id ?? null,
    before: { user: userId, client: clientId },
    after: { reason, refresh_tokens: refreshTokens, access_tokens: accessTokens },
  });
  return true;
}
