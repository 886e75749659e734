import type { ChangeContext } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvents } from '../audit/record-event.ts';
import { bumpCredentialVersion } from './credentials.ts';
import { CONSOLE_CLIENT } from './oauth-clients.ts';
import { revokeTokens } from './revoke-tokens.ts';

export type RevocationReason =
  /** A code was used twice (RFC 6749, section 4.1.2). */
  | 'code-reused'
  /** A refresh token was used after its successor was issued (RFC 9700, section 4.14.2). */
  | 'refresh-token-reused'
  /** The client revoked a refresh token (RFC 7009, section 2.1). */
  | 'revoked-by-client'
  /** The user must have a second factor, and has none. */
  | 'second-factor-required';

export interface Grant {
  grantId: string;
  userId: number;
  clientId: string;
}

const revokeRefreshTokens = prepareWrite<{ grants: string[]; now: number }, { grant_id: string }>((tx, p) =>
  tx
    .updateTable('refresh_tokens')
    .set({ revoked_at: p.now })
    .where((eb) => inList(tx, eb.ref('grant_id'), p.grants))
    .where('revoked_at', 'is', null)
    .returning('grant_id'),
);

const organizationsOf = prepareQuery<{ users: number[] }, { id: number; organization_id: number | null }>(
  (db, p) =>
    db
      .selectFrom('users')
      .select(['id', 'organization_id'])
      .where((eb) => inList(db, eb.ref('id'), p.users)),
);

/**
 * Revokes all access tokens and refresh tokens of a grant.
 * @returns false when none was left
 */
export async function revokeGrant(
  tx: Transaction,
  by: ChangeContext,
  grant: Grant,
  reason: RevocationReason,
): Promise<boolean> {
  return (await revokeGrants(tx, by, [grant], reason)) > 0;
}

/**
 * Revokes the grants of users: all access tokens, refresh tokens and unused codes of the applications that they
 * approved. Consents, personal access tokens and tokens of clients with an account of their own stay.
 */
export async function revokeGrantsOfUsers(
  tx: Transaction,
  by: ChangeContext,
  userIds: readonly number[],
  reason: RevocationReason,
): Promise<void> {
  const grants = await grantsOfUsers(tx, userIds, by.now);
  // On PostgreSQL, this waits for codes that are being exchanged; their tokens are revoked below.
  const codes = await tx
    .deleteFrom('authorization_codes')
    .where((eb) => inList(tx, eb.ref('user_id'), userIds))
    .where('used_at', 'is', null)
    .returning('grant_id')
    .execute();
  await revokeGrants(tx, by, grants, reason, codes);
}

/** Selects the grants of users that have an unused code or a valid token. */
async function grantsOfUsers(tx: Transaction, userIds: readonly number[], now: number): Promise<Grant[]> {
  const columns = ['grant_id as grantId', 'user_id as userId', 'client_id as clientId'] as const;
  const rows = await tx
    .selectFrom('refresh_tokens')
    .select(columns)
    .where((eb) => inList(tx, eb.ref('user_id'), userIds))
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .union(
      tx
        .selectFrom('authorization_codes')
        .select(columns)
        .where((eb) => inList(tx, eb.ref('user_id'), userIds))
        .where('used_at', 'is', null)
        .where('expires_at', '>', now),
    )
    .union(
      tx
        .selectFrom('tokens')
        .select(({ ref }) => [
          ref('grant_id').$notNull().as('grantId'),
          'user_id as userId',
          ref('client_id').$notNull().as('clientId'),
        ])
        .where((eb) => inList(tx, eb.ref('user_id'), userIds))
        .where('grant_id', 'is not', null)
        .where('revoked_at', 'is', null)
        .where('expires_at', '>', now),
    )
    .execute();
  // Grants of the console end with its sessions.
  return rows.filter(({ clientId }) => clientId !== CONSOLE_CLIENT);
}

/**
 * @param codes the deleted codes, if codes end as well
 * @returns the number of grants of which something was left
 */
async function revokeGrants(
  tx: Transaction,
  by: ChangeContext,
  grants: readonly Grant[],
  reason: RevocationReason,
  codes?: readonly { grant_id: string }[],
): Promise<number> {
  const key = { grants: grants.map(({ grantId }) => grantId), now: by.now };
  const refreshTokens = await revokeRefreshTokens(tx, key);
  // On PostgreSQL, a concurrent rotation that this waited for has inserted a successor that the statement did not see.
  for (let successors = [...refreshTokens]; successors.length > 0; refreshTokens.push(...successors))
    successors = await revokeRefreshTokens(tx, key);
  const accessTokens = await revokeTokens(tx, by, { grantIds: key.grants });
  if (refreshTokens.length + accessTokens.length > 0) await bumpCredentialVersion(tx);
  const counts = [codes ?? [], refreshTokens, accessTokens].map(countByGrant);
  const ended = grants.filter(({ grantId }) => counts.some((count) => count.has(grantId)));
  if (ended.length === 0) return 0;
  const users = await organizationsOf(tx, { users: [...new Set(ended.map(({ userId }) => userId))] });
  const organizations = new Map(users.map(({ id, organization_id }) => [id, organization_id]));
  await recordEvents(
    tx,
    ended.map(({ grantId, userId, clientId }) => {
      const [codesOf, refreshTokensOf, accessTokensOf] = counts.map((count) => count.get(grantId) ?? 0);
      return {
        by,
        change: {
          action: 'grant.revoke',
          object: ['grant', grantId],
          organizationId: organizations.get(userId) ?? null,
          before: { user: userId, client: clientId },
          after: {
            reason,
            ...(codes === undefined ? {} : { codes: codesOf }),
            refresh_tokens: refreshTokensOf,
            access_tokens: accessTokensOf,
          },
        },
      };
    }),
  );
  return ended.length;
}

function countByGrant(rows: readonly { grant_id: string | null }[]): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const { grant_id } of rows) counts.set(grant_id, (counts.get(grant_id) ?? 0) + 1);
  return counts;
}
