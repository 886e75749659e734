import type { Attribution, Caller } from '../../auth/callers.ts';
import { firstBlockOutside } from '../../auth/ip-addresses.ts';
import type { Keys } from '../../auth/keys.ts';
import { ALL_SCOPES, isScope } from '../../auth/scopes.ts';
import { displayPrefix } from '../../auth/secrets.ts';
import type { Transaction } from '../../db/engine.ts';
import { DomainError, invalidInput } from '../shared/errors.ts';
import { defineList } from '../lists/define-list.ts';
import { issueToken, MAX_USER_TOKENS, validateToken } from './tokens.ts';

/** A personal access token as its owner sees it, valid or not. */
export interface PersonalToken {
  id: string;
  name: string | null;
  /** The first characters of the token. */
  prefix: string;
  scopes: readonly string[];
  /** Empty for everywhere. */
  allowedAddresses: readonly string[];
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  lastUsedFrom: string | null;
  revokedAt: number | null;
}

/** The caller's personal access tokens (operation 57). */
export const personalTokenList = defineList({
  name: 'tokens',
  rows: ({ db, caller }) =>
    db
      .selectFrom('tokens')
      .innerJoin('users', 'users.id', 'tokens.user_id')
      .select([
        'tokens.id',
        'tokens.name',
        'tokens.prefix',
        'tokens.scopes',
        'tokens.allowed_addresses',
        'tokens.created_at',
        'tokens.expires_at',
        'tokens.last_used_at',
        'tokens.last_used_from',
        'tokens.revoked_at',
      ])
      .where('tokens.user_id', '=', caller.userId ?? -1)
      .where('tokens.kind', '=', 'personal'),
  id: 'tokens.id',
  idType: 'text',
  organization: 'users.organization_id',
  filters: {},
  sorts: { createdAt: { column: 'tokens.created_at', type: 'integer' } },
  hydrate: (_reading, rows): PersonalToken[] =>
    rows.map((row) => ({
      id: row.id,
      name: row.name,
      prefix: row.prefix ?? '',
      scopes: row.scopes.split(' '),
      allowedAddresses: parseAddresses(row.allowed_addresses),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      lastUsedAt: row.last_used_at,
      lastUsedFrom: row.last_used_from,
      revokedAt: row.revoked_at,
    })),
});

function parseAddresses(text: string | null): readonly string[] {
  return text === null ? [] : (JSON.parse(text) as string[]);
}

/** Absent members default to those of the caller's credential. */
export interface PersonalTokenInput {
  name: string;
  scopes?: readonly string[] | undefined;
  /** Empty for everywhere. */
  allowedAddresses?: readonly string[] | undefined;
  expiresAt?: number | undefined;
}

/**
 * Creates a personal access token for the caller, which may do no more than the caller's credential.
 * @returns the stored token, and the token itself, which cannot be shown again
 * @throws DomainError `invalid` for a scope, address or expiry, and when the account has too many tokens;
 *   `forbidden` for what the credential may not do, and for the command line, which has no account
 */
export async function createPersonalToken(
  tx: Transaction,
  act: Attribution<Caller>,
  keys: Keys,
  input: PersonalTokenInput,
): Promise<PersonalToken & { token: string }> {
  const { actor: caller, now } = act;
  if (caller.userId === null) throw new DomainError('forbidden', { code: 'no-account' });
  const { bounds } = caller;
  const own = bounds.allowedAddresses ?? [];
  const scopes = input.scopes ?? ALL_SCOPES.filter((scope) => caller.scopes.has(scope));
  const allowedAddresses = input.allowedAddresses ?? own;
  const expiresAt = input.expiresAt ?? bounds.expiresAt;
  const fieldErrors = validateToken(scopes, allowedAddresses);
  if (input.expiresAt !== undefined && input.expiresAt <= now)
    fieldErrors.push({ property: 'expiresAt', code: 'not-in-the-future' });
  if (fieldErrors.length > 0) throw invalidInput(fieldErrors);

  const more = scopes.find((scope) => !isScope(scope) || !caller.scopes.has(scope));
  if (more !== undefined)
    throw new DomainError('forbidden', { code: 'token-lacks-scope', params: { scope: more } });
  if (own.length > 0) {
    const beyond = allowedAddresses.length === 0 ? 'everywhere' : firstBlockOutside(own, allowedAddresses);
    if (beyond !== undefined)
      throw new DomainError('forbidden', {
        code: 'token-address-not-allowed',
        params: { addresses: beyond },
      });
  }
  if (bounds.expiresAt !== null && (expiresAt ?? Infinity) > bounds.expiresAt)
    throw new DomainError('forbidden', { code: 'token-expires-earlier' });

  const name = input.name.trim();
  const request = {
    userId: caller.userId,
    kind: 'personal',
    name,
    scopes,
    expiresAt,
    allowedAddresses,
    atMost: MAX_USER_TOKENS,
  } as const;
  const { id, token } = await issueToken(tx, act, keys, request);
  return {
    id,
    name,
    prefix: displayPrefix(token),
    scopes: [...new Set(scopes)],
    allowedAddresses,
    createdAt: now,
    expiresAt,
    lastUsedAt: null,
    lastUsedFrom: null,
    revokedAt: null,
    token,
  };
}
