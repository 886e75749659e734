import type { Principal } from '../../auth/callers.ts';
import type { Scope } from '../../auth/scopes.ts';
import { hashSecret } from '../../auth/secrets.ts';
import type { ReadConnection } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { accountOf, RIGHTS_COLUMNS, type RightsRow } from '../shared/account-rights.ts';
import { type Credential, effectiveScopes, TOKEN_USER_COLUMNS, isActive } from './credentials.ts';

export interface ActiveToken {
  id: string;
  /** The application that it was issued to; `null` for personal tokens and tokens that the command line created. */
  clientId: string | null;
  user: { uid: string; email: string; organizationId: number | null };
  /** The scopes that the account may hold now. */
  scopes: readonly Scope[];
  /** Milliseconds since 1970; `null` for a token that does not expire. */
  expiresAt: number | null;
  issuedAt: number;
  /** CIDR blocks from which it is accepted; `null` for everywhere. */
  allowedAddresses: readonly string[] | null;
}

interface TokenRow extends Omit<Credential, 'emailKey' | 'grantId'> {
  email: string;
  createdAt: number;
}

const accessTokens = (db: ReadConnection) =>
  db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select([
      'tokens.id as tokenId',
      'tokens.client_id as clientId',
      'tokens.scopes as scopes',
      'tokens.created_at as createdAt',
      'tokens.expires_at as expiresAt',
      'tokens.revoked_at as revokedAt',
      'tokens.allowed_addresses as allowedAddresses',
      'users.email as email',
      ...TOKEN_USER_COLUMNS,
    ]);

const accessTokenById = prepareQuery<{ id: string }, TokenRow>((db, p) =>
  accessTokens(db).where('tokens.id', '=', p.id),
);

const accessTokenBySecret = prepareQuery<{ hash: string }, TokenRow>((db, p) =>
  accessTokens(db).where('tokens.secret_hash', '=', p.hash),
);

const refreshTokenBySecret = prepareQuery<{ hash: string }, Omit<TokenRow, 'allowedAddresses'>>((db, p) =>
  db
    .selectFrom('refresh_tokens')
    .innerJoin('users', 'users.id', 'refresh_tokens.user_id')
    .select([
      'refresh_tokens.id as tokenId',
      'refresh_tokens.client_id as clientId',
      'refresh_tokens.scopes as scopes',
      'refresh_tokens.created_at as createdAt',
      'refresh_tokens.expires_at as expiresAt',
      'refresh_tokens.revoked_at as revokedAt',
      'users.email as email',
      ...TOKEN_USER_COLUMNS,
    ])
    .where('refresh_tokens.secret_hash', '=', p.hash)
    .where('refresh_tokens.used_at', 'is', null),
);

const accountById = prepareQuery<{ id: number }, RightsRow>((db, p) =>
  db.selectFrom('users').select(RIGHTS_COLUMNS).where('id', '=', p.id).where('banned_at', 'is', null),
);

/** @returns the access token with this `jti` if it is valid */
export async function findActiveAccessToken(
  db: ReadConnection,
  id: string,
  now: number,
): Promise<ActiveToken | undefined> {
  return toActiveToken((await accessTokenById(db, { id }))[0], now);
}

/** @returns the personal access token with this secret if it is valid */
export async function findActivePersonalToken(
  db: ReadConnection,
  secret: string,
  now: number,
): Promise<ActiveToken | undefined> {
  return toActiveToken((await accessTokenBySecret(db, { hash: hashSecret(secret) }))[0], now);
}

/** @returns the refresh token with this secret if it is valid */
export async function findActiveRefreshToken(
  db: ReadConnection,
  secret: string,
  now: number,
): Promise<ActiveToken | undefined> {
  const [row] = await refreshTokenBySecret(db, { hash: hashSecret(secret) });
  return toActiveToken(row && { ...row, allowedAddresses: null }, now);
}

/** @returns the rights of an account; `undefined` for one that is banned or deleted */
export async function findAccountRights(db: ReadConnection, userId: number): Promise<Principal | undefined> {
  const [account] = await accountById(db, { id: userId });
  return account && accountOf(account);
}

function toActiveToken(row: TokenRow | undefined, now: number): ActiveToken | undefined {
  if (row === undefined || !isActive(row, now)) return undefined;
  return {
    id: row.tokenId,
    clientId: row.clientId,
    user: { uid: row.uid, email: row.email, organizationId: row.organizationId },
    scopes: effectiveScopes(row),
    expiresAt: row.expiresAt,
    issuedAt: row.createdAt,
    allowedAddresses: row.allowedAddresses === null ? null : (JSON.parse(row.allowedAddresses) as string[]),
  };
}
