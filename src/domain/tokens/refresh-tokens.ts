import { randomUUID } from 'node:crypto';
import type { ChangeContext } from '../../auth/callers.ts';
import { isScope, type Scope } from '../../auth/scopes.ts';
import { hashSecret, newSecret } from '../../auth/secrets.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { prepareQuery, preparePipelined, prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';

/** A refresh token (RFC 6749, section 1.5), as stored. */
export interface RefreshToken {
  id: string;
  clientId: string;
  userId: number;
  /** Identifies an approval. A code and all tokens issued for it share the grant and end together. */
  grantId: string;
  /** The approved scopes, also when an access token was requested with fewer. */
  scopes: readonly Scope[];
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** The end of the whole grant, however often it is refreshed. */
  grantExpiresAt: number;
  /** When it was exchanged for its successor. */
  usedAt: number | null;
  revokedAt: number | null;
}

export interface NewRefreshToken {
  clientId: string;
  userId: number;
  organizationId: number | null;
  grantId: string;
  scopes: readonly Scope[];
  /** Milliseconds since 1970. */
  grantExpiresAt: number;
}

const selectBySecret = prepareQuery((db, p: { hash: string }) =>
  db.selectFrom('refresh_tokens').selectAll().where('secret_hash', '=', p.hash),
);

const insert = preparePipelined<{
  id: string;
  hash: string;
  client: string;
  user: number;
  grant: string;
  scopes: string;
  now: number;
  expires: number;
  grantExpires: number;
}>((tx, p) =>
  tx.insertInto('refresh_tokens').values({
    id: p.id,
    secret_hash: p.hash,
    client_id: p.client,
    user_id: p.user,
    grant_id: p.grant,
    scopes: p.scopes,
    created_at: p.now,
    expires_at: p.expires,
    grant_expires_at: p.grantExpires,
  }),
);

const markUsed = prepareWrite<{ id: string; now: number }, { id: string }>((tx, p) =>
  tx
    .updateTable('refresh_tokens')
    .set({ used_at: p.now })
    .where('id', '=', p.id)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returning('id'),
);

/** @returns the refresh token with this secret, valid or not */
export async function refreshTokenBySecret(
  db: ReadConnection,
  secret: string,
): Promise<RefreshToken | undefined> {
  const [row] = await selectBySecret(db, { hash: hashSecret(secret) });
  return (
    row && {
      id: row.id,
      clientId: row.client_id,
      userId: row.user_id,
      grantId: row.grant_id,
      scopes: row.scopes.split(' ').filter(isScope),
      expiresAt: row.expires_at,
      grantExpiresAt: row.grant_expires_at,
      usedAt: row.used_at,
      revokedAt: row.revoked_at,
    }
  );
}

/**
 * Issues a refresh token.
 * @param lifetime milliseconds, limited by the end of the grant
 * @param before the id of its predecessor; `null` for the first one of a grant
 * @returns its secret, which is stored as a hash
 */
export async function issueRefreshToken(
  tx: Transaction,
  by: ChangeContext,
  input: NewRefreshToken,
  lifetime: number,
  before: string | null,
): Promise<string> {
  const id = randomUUID();
  const secret = newSecret();
  const { clientId, userId, organizationId, grantId, grantExpiresAt } = input;
  const scopes = input.scopes.join(' ');
  const expiresAt = Math.min(by.now + lifetime, grantExpiresAt);
  await insert(tx, {
    id,
    hash: hashSecret(secret),
    client: clientId,
    user: userId,
    grant: grantId,
    scopes,
    now: by.now,
    expires: expiresAt,
    grantExpires: grantExpiresAt,
  });
  await recordEvent(tx, by, {
    action: before === null ? 'refresh-token.create' : 'refresh-token.rotate',
    object: ['refresh-token', id],
    organizationId,
    before: before === null ? null : { id: before },
    after: { user: userId, client: clientId, grant: grantId, scopes, expires_at: expiresAt },
  });
  return secret;
}

/**
 * Consumes a refresh token.
 * @returns false when it was consumed or revoked before
 */
export async function consumeRefreshToken(tx: Transaction, id: string, now: number): Promise<boolean> {
  return (await markUsed(tx, { id, now })).length > 0;
}
