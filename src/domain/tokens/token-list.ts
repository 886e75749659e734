import { isExternalCredential } from '../../auth/external-issuer.ts';
import type { ReadConnection } from '../../db/database.ts';
import { defineList } from '../lists/define-list.ts';

/** A token as its owner sees it, valid or not. */
export interface UserToken {
  id: string;
  kind: 'personal' | 'jwt';
  name: string | null;
  /** The first characters of a personal access token; empty for a JWT. */
  prefix: string;
  scopes: readonly string[];
  /** Empty for everywhere. */
  allowedAddresses: readonly string[];
  createdAt: number;
  expiresAt: number | null;
  /** `null` if it was never used. */
  lastUsedAt: number | null;
  lastUsedFrom: string | null;
  revokedAt: number | null;
  createdBy: TokenCreator | null;
}

/** The token, application or external issuer with whose credential a token was created. */
export interface TokenCreator {
  kind: 'token' | 'application' | 'external';
  /** The id of the token or application. */
  id: string;
  name: string | null;
}

/** Selects tokens with the columns of `UserToken`. */
export const selectTokens = (db: ReadConnection) =>
  db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .leftJoin('tokens as creators', 'creators.id', 'tokens.made_by')
    .leftJoin('oauth_clients as creator_clients', 'creator_clients.id', 'tokens.made_by_client')
    .select([
      'tokens.id',
      'tokens.kind',
      'tokens.name',
      'tokens.prefix',
      'tokens.scopes',
      'tokens.allowed_addresses',
      'tokens.created_at',
      'tokens.expires_at',
      'tokens.last_used_at',
      'tokens.last_used_from',
      'tokens.revoked_at',
      'tokens.made_by',
      'creators.name as creator_name',
      'tokens.made_by_client',
      'creator_clients.name as creator_client_name',
    ]);

type TokenRow = Awaited<ReturnType<ReturnType<typeof selectTokens>['executeTakeFirstOrThrow']>>;

/** Turns a row of `selectTokens` into a token. */
export function toUserToken(row: TokenRow): UserToken {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    prefix: row.prefix ?? '',
    scopes: row.scopes.split(' '),
    allowedAddresses: row.allowed_addresses === null ? [] : (JSON.parse(row.allowed_addresses) as string[]),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    lastUsedFrom: row.last_used_from,
    revokedAt: row.revoked_at,
    createdBy: creatorOf(row),
  };
}

function creatorOf({
  made_by: id,
  creator_name: name,
  made_by_client: client,
  creator_client_name: clientName,
}: TokenRow): TokenCreator | null {
  if (id === null) return null;
  if (isExternalCredential(id)) return { kind: 'external', id, name: null };
  return client === null
    ? { kind: 'token', id, name }
    : { kind: 'application', id: client, name: clientName };
}

/** @returns the valid tokens of a user, without those of applications, newest first */
export async function listUserTokens(db: ReadConnection, userId: number, now: number): Promise<UserToken[]> {
  const rows = await selectTokens(db)
    .where('tokens.user_id', '=', userId)
    .where('tokens.client_id', 'is', null)
    .where('tokens.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('tokens.expires_at', 'is', null), eb('tokens.expires_at', '>', now)]))
    .orderBy('tokens.created_at', 'desc')
    .orderBy('tokens.id')
    .execute();
  return rows.map(toUserToken);
}

/** @returns all tokens of all users, also expired and revoked ones, oldest first */
export async function listTokens(db: ReadConnection): Promise<(UserToken & { email: string })[]> {
  const rows = await selectTokens(db)
    .select('users.email')
    .orderBy('tokens.created_at')
    .orderBy('tokens.id')
    .execute();
  return rows.map((row) => ({ ...toUserToken(row), email: row.email }));
}

/** The caller's personal access tokens (operation 57). */
export const personalTokenList = defineList({
  name: 'tokens',
  rows: ({ db, caller }) =>
    selectTokens(db)
      .where('tokens.user_id', '=', caller.userId ?? -1)
      .where('tokens.kind', '=', 'personal'),
  id: 'tokens.id',
  idType: 'text',
  organization: 'users.organization_id',
  filters: {},
  sorts: { createdAt: { column: 'tokens.created_at', type: 'integer' } },
  hydrate: (_listContext, rows) => rows.map(toUserToken),
});
