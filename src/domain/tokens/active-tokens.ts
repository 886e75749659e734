import type { Account } from '../../auth/callers.ts';
import type { Scope } from '../../auth/scopes.ts';
import { hashSecret } from '../../auth/secrets.ts';
import type { Reader } from '../../db/engine.ts';
import { prepare } from '../../db/prepared-queries.ts';
import { accountOf, RIGHTS, type RightsRow } from '../users/account-rights.ts';
import { type Credential, heldScopes, HOLDER, isLive } from './credentials.ts';

/** A token that is good now, and what it is good for. */
export interface LiveToken {
  id: string;
  /** The application that it was issued to; `null` for one that a person or the command line made. */
  clientId: string | null;
  user: { uid: string; email: string; organizationId: number | null };
  /** What the account may hold of it now. */
  scopes: readonly Scope[];
  /** In milliseconds since 1970; `null` for one that does not expire. */
  expiresAt: number | null;
  issuedAt: number;
  /** CIDR blocks from which alone it is good; `null` for everywhere. */
  allowedAddresses: readonly string[] | null;
}

interface TokenRow extends Omit<Credential, 'emailKey' | 'grantId'> {
  email: string;
  createdAt: number;
}

const accessTokens = (db: Reader) =>
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
      ...HOLDER,
    ]);

const accessTokenById = prepare<{ id: string }, TokenRow>((db, p) =>
  accessTokens(db).where('tokens.id', '=', p.id),
);

const accessTokenBySecret = prepare<{ hash: string }, TokenRow>((db, p) =>
  accessTokens(db).where('tokens.secret_hash', '=', p.hash),
);

const refreshTokenBySecret = prepare<{ hash: string }, Omit<TokenRow, 'allowedAddresses'>>((db, p) =>
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
      ...HOLDER,
    ])
    .where('refresh_tokens.secret_hash', '=', p.hash)
    .where('refresh_tokens.used_at', 'is', null),
);

const accountById = prepare<{ id: number }, RightsRow>((db, p) =>
  db.selectFrom('users').select(RIGHTS).where('id', '=', p.id).where('banned_at', 'is', null),
);

/** @returns the access token with this `jti`, if it is good now */
export async function liveTokenById(db: Reader, id: string, now: number): Promise<LiveToken | undefined> {
  return live((await accessTokenById(db, { id }))[0], now);
}

/** @returns the personal access token with this secret, if it is good now */
export async function livePersonalToken(
  db: Reader,
  secret: string,
  now: number,
): Promise<LiveToken | undefined> {
  return live((await accessTokenBySecret(db, { hash: hashSecret(secret) }))[0], now);
}

/** @returns the refresh token with this secret, if it is good now */
export async function liveRefreshToken(
  db: Reader,
  secret: string,
  now: number,
): Promise<LiveToken | undefined> {
  const [row] = await refreshTokenBySecret(db, { hash: hashSecret(secret) });
  return live(row && { ...row, allowedAddresses: null }, now);
}

/** @returns the rights of an account; nothing for one that is banned or gone */
export async function rightsOf(db: Reader, userId: number): Promise<Account | undefined> {
  const [account] = await accountById(db, { id: userId });
  return account && accountOf(account);
}

function live(row: TokenRow | undefined, now: number): LiveToken | undefined {
  if (row === undefined || !isLive(row, now)) return undefined;
  return {
    id: row.tokenId,
    clientId: row.clientId,
    user: { uid: row.uid, email: row.email, organizationId: row.organizationId },
    scopes: heldScopes(row),
    expiresAt: row.expiresAt,
    issuedAt: row.createdAt,
    allowedAddresses: row.allowedAddresses === null ? null : (JSON.parse(row.allowedAddresses) as string[]),
  };
}
