import { isScope, type Scope, scopesOf } from '../../auth/scopes.ts';
import { hashSecret } from '../../auth/secrets.ts';
import type { Reader } from '../../db/engine.ts';
import { prepare } from '../../db/prepared.ts';

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

/** Whose tokens someone may look at, beside their own. */
export type Administration = 'everybody' | { organizationId: number } | 'nobody';

interface TokenRow {
  id: string;
  client_id: string | null;
  scopes: string;
  created_at: number;
  expires_at: number | null;
  allowed_addresses: string | null;
  uid: string;
  email: string;
  organization_id: number | null;
  admin: number;
  staff: number;
}

const USER = ['users.uid', 'users.email', 'users.organization_id', 'users.admin', 'users.staff'] as const;

const accessTokens = (db: Reader) =>
  db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select([
      'tokens.id',
      'tokens.client_id',
      'tokens.scopes',
      'tokens.created_at',
      'tokens.expires_at',
      'tokens.allowed_addresses',
      ...USER,
    ])
    .where('tokens.revoked_at', 'is', null)
    .where('users.banned_at', 'is', null);

const accessTokenById = prepare<{ id: string }, TokenRow>((db, p) =>
  accessTokens(db).where('tokens.id', '=', p.id),
);

const accessTokenBySecret = prepare<{ hash: string }, TokenRow>((db, p) =>
  accessTokens(db).where('tokens.secret_hash', '=', p.hash),
);

const refreshTokenBySecret = prepare<{ hash: string }, Omit<TokenRow, 'allowed_addresses'>>((db, p) =>
  db
    .selectFrom('refresh_tokens')
    .innerJoin('users', 'users.id', 'refresh_tokens.user_id')
    .select([
      'refresh_tokens.id',
      'refresh_tokens.client_id',
      'refresh_tokens.scopes',
      'refresh_tokens.created_at',
      'refresh_tokens.expires_at',
      ...USER,
    ])
    .where('refresh_tokens.secret_hash', '=', p.hash)
    .where('refresh_tokens.used_at', 'is', null)
    .where('refresh_tokens.revoked_at', 'is', null)
    .where('users.banned_at', 'is', null),
);

const accountById = prepare<{ id: number }, { organization_id: number | null; admin: number; staff: number }>(
  (db, p) =>
    db
      .selectFrom('users')
      .select(['organization_id', 'admin', 'staff'])
      .where('id', '=', p.id)
      .where('banned_at', 'is', null),
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
  return live(row && { ...row, allowed_addresses: null }, now);
}

/** @returns whose tokens a client may look at because of the account that it acts as */
export async function administrationOf(db: Reader, userId: number | null): Promise<Administration> {
  if (userId === null) return 'nobody';
  const [account] = await accountById(db, { id: userId });
  if (account === undefined) return 'nobody';
  if (account.staff === 1) return 'everybody';
  return account.admin === 1 && account.organization_id !== null
    ? { organizationId: account.organization_id }
    : 'nobody';
}

function live(row: TokenRow | undefined, now: number): LiveToken | undefined {
  if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) return undefined;
  const held = scopesOf({ staff: row.staff === 1, admin: row.admin === 1 });
  return {
    id: row.id,
    clientId: row.client_id,
    user: { uid: row.uid, email: row.email, organizationId: row.organization_id },
    scopes: row.scopes
      .split(' ')
      .filter(isScope)
      .filter((scope) => held.includes(scope)),
    expiresAt: row.expires_at,
    issuedAt: row.created_at,
    allowedAddresses: row.allowed_addresses === null ? null : (JSON.parse(row.allowed_addresses) as string[]),
  };
}
