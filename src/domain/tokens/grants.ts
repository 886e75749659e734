import type { Attribution } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { prepareQuery, prepareRowCount } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { bumpCredentialVersion } from './credentials.ts';

/** Why everything of a grant ended. */
export type RevocationReason =
  /** A code was seen a second time (RFC 6749, section 4.1.2). */
  | 'code-reused'
  /** A refresh token was seen after its successor was made (RFC 9700, section 4.14.2). */
  | 'refresh-token-reused'
  /** Its client gave a refresh token back (RFC 7009, section 2.1). */
  | 'revoked-by-client';

/** What one approval gave, and to whom. */
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

const revokeAccessTokens = prepareRowCount<{ grant: string; now: number }>((tx, p) =>
  tx
    .updateTable('tokens')
    .set({ revoked_at: p.now })
    .where('grant_id', '=', p.grant)
    .where('revoked_at', 'is', null),
);

const organizationOf = prepareQuery<{ user: number }, { organization_id: number | null }>((db, p) =>
  db.selectFrom('users').select('organization_id').where('id', '=', p.user),
);

/**
 * Ends everything of a grant at once and for good: its access tokens and its refresh tokens.
 * @returns whether there was anything left to end
 */
export async function revokeGrant(
  tx: Transaction,
  act: Attribution,
  { grantId, userId, clientId }: Grant,
  reason: RevocationReason,
): Promise<boolean> {
  const key = { grant: grantId, now: act.now };
  let refreshTokens = await revokeRefreshTokens(tx, key);
  // On PostgreSQL, a rotation that this has waited for has left a successor that it did not see.
  for (let more = refreshTokens; more > 0; refreshTokens += more) more = await revokeRefreshTokens(tx, key);
  const accessTokens = await revokeAccessTokens(tx, key);
  if (refreshTokens + accessTokens === 0) return false;
  await bumpCredentialVersion(tx);
  const [user] = await organizationOf(tx, { user: userId });
  await recordEvent(tx, act, {
    action: 'grant.revoke',
    object: ['grant', grantId],
    organizationId: user?.organization_id ?? null,
    before: { user: userId, client: clientId },
    after: { reason, refresh_tokens: refreshTokens, access_tokens: accessTokens },
  });
  return true;
}
