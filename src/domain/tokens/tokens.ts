import { randomUUID } from 'node:crypto';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { lockAccount } from '../shared/account-rights.ts';
import { recordEvent } from '../audit/record-event.ts';
import { credentialById, credentialBySecret, bumpCredentialVersion } from './credentials.ts';
import { type FieldError, invalidInput, limitExceeded, notFound } from '../shared/errors.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { requireName } from '../shared/names.ts';
import { claimsOf, tokenAccount } from './token-claims.ts';
import { revokeTokens } from './revoke-tokens.ts';
import { listUserTokens } from './token-list.ts';
import { isAddressBlock } from '../../auth/ip-addresses.ts';
import type { ChangeContext } from '../../auth/callers.ts';
import { isExternalCredential } from '../../auth/external-issuer.ts';
import type { Keys } from '../../auth/keys.ts';
import { defaultScopes, isScope, type Scope, grantableScopes } from '../../auth/scopes.ts';
import { hashSecret, newPersonalToken, displayPrefix } from '../../auth/secrets.ts';

export interface TokenRequest {
  userId: number;
  kind: 'personal' | 'jwt';
  /** Chosen by its owner. */
  name?: string | undefined;
  /** Defaults to all scopes that the account may hold, without `api_read`, which `api` covers. */
  scopes?: readonly string[] | undefined;
  /** Milliseconds since 1970; `null` for a personal access token that does not expire. */
  expiresAt: number | null;
  /** CIDR blocks or single addresses; empty allows every address. */
  allowedAddresses?: readonly string[] | undefined;
  /** The id of the token that it is created with, and ends with. */
  createdBy?: string | null;
  /**
   * The maximum number of valid tokens of the account, this one included and those of applications not counted; absent
   * for no limit.
   */
  atMost?: number;
}

export interface IssuedToken {
  id: string;
  /** The token, which is not stored and cannot be shown again. */
  token: string;
  expiresAt: number | null;
}

/**
 * Issues a token to an account, which may still be invited.
 * @throws DomainError `not-found` for an unknown or banned user, and for a creating token that was revoked; `invalid`
 *   for the name, a scope or an address; `limit-exceeded` when the account has too many tokens
 */
export async function issueToken(
  tx: Transaction,
  by: ChangeContext,
  keys: Keys,
  request: TokenRequest,
): Promise<IssuedToken> {
  const { now } = by;
  const account = await tokenAccount(tx, request.userId);
  if (account === undefined) throw notFound('user');

  const allowedAddresses = request.allowedAddresses ?? [];
  const fieldErrors = validateScopesAndAddresses(request.scopes ?? [], allowedAddresses);
  if (fieldErrors.length > 0) throw invalidInput(fieldErrors);
  const scopes = grantedScopes(request.scopes, grantableScopes(account));

  const { createdBy: madeBy = null } = request;
  // The account is locked before its tokens, in the same order as when sessions end.
  if (madeBy !== null || request.atMost !== undefined) await lockAccount(tx, request.userId);
  const madeByClient = madeBy === null ? null : await lockCreator(tx, madeBy);
  if (request.atMost !== undefined) await requireTokenLimit(tx, request.userId, request.atMost, now);
  const id = randomUUID();
  const { kind, expiresAt } = request;
  const name = request.name === undefined ? null : requireName('name', request.name);
  const scope = scopes.join(' ');
  const token =
    kind === 'personal'
      ? newPersonalToken()
      : await keys.sign(claimsOf(account, { id, clientId: 'assay-cli', scopes }), {
          issuedAt: now,
          expiresAt: expiresAt ?? now,
        });
  await tx
    .insertInto('tokens')
    .values({
      id,
      kind,
      user_id: request.userId,
      secret_hash: kind === 'personal' ? hashSecret(token) : null,
      scopes: scope,
      allowed_addresses: allowedAddresses.length === 0 ? null : JSON.stringify(allowedAddresses),
      created_at: now,
      expires_at: expiresAt,
      name,
      prefix: kind === 'personal' ? displayPrefix(token) : null,
      made_by: madeBy,
      made_by_client: madeByClient,
    })
    .execute();
  await recordEvent(tx, by, {
    action: 'token.create',
    object: ['token', id],
    organizationId: account.organizationId,
    before: null,
    after: {
      user: account.uid,
      kind,
      name,
      scopes: scope,
      expires_at: expiresAt,
      allowed_addresses: allowedAddresses,
      ...(madeBy === null ? {} : { made_by: madeBy }),
    },
  });
  return { id, token, expiresAt };
}

/**
 * Locks the token with which another one is created, so that a concurrent revocation waits and revokes both.
 * @returns the application that it was issued to
 * @throws DomainError `not-found` if it was revoked in the meantime
 */
async function lockCreator(tx: Transaction, id: string): Promise<string | null> {
  // Tokens of an external issuer are in no table, and end by expiring.
  if (isExternalCredential(id)) return null;
  const creator = await tx
    .selectFrom('tokens')
    .select('client_id')
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirst();
  if (creator === undefined) throw notFound('token');
  return creator.client_id;
}

/** @returns the errors of the scopes and addresses */
export function validateScopesAndAddresses(
  scopes: readonly string[],
  blocks: readonly string[],
): FieldError[] {
  return [
    ...scopes.flatMap((scope, index): FieldError[] =>
      isScope(scope) ? [] : [{ property: `scopes.${index}`, code: 'unknown-scope', value: scope }],
    ),
    ...blocks.flatMap((block, index): FieldError[] =>
      isAddressBlock(block)
        ? []
        : [
            {
              property: `allowedAddresses.${index}`,
              code: 'not-an-address-block',
              value: block,
            },
          ],
    ),
  ];
}

/** Call this with the account locked. */
async function requireTokenLimit(
  tx: Transaction,
  userId: number,
  atMost: number,
  now: number,
): Promise<void> {
  if ((await listUserTokens(tx, userId, now)).length >= atMost)
    throw limitExceeded({ property: 'name', code: 'too-many-tokens', params: { max: atMost } });
}

/**
 * Revokes a token by its id or, for a personal access token, by the token, and those that were created with it. Does
 * nothing if it is revoked.
 * @throws DomainError `not-found` for the token
 */
export async function revokeToken(
  tx: Transaction,
  by: ChangeContext,
  idOrToken: string,
): Promise<{ id: string }> {
  const credential = (await credentialById(tx, idOrToken)) ?? (await credentialBySecret(tx, idOrToken));
  if (credential === undefined) throw notFound('token');
  if ((await revokeTokens(tx, by, { id: credential.tokenId })).length > 0) {
    await bumpCredentialVersion(tx);
    await recordEvent(tx, by, {
      action: 'token.revoke',
      object: ['token', credential.tokenId],
      organizationId: credential.organizationId,
      before: { revoked_at: null },
      after: { revoked_at: by.now },
    });
  }
  return { id: credential.tokenId };
}

/** Valid tokens that users can create for an account, so that a list of them stays short. */
export const MAX_USER_TOKENS = 100;

/** Tokens cannot be changed. */
export const TOKEN_VERSION = 1;

/**
 * Revokes a token from `listUserTokens`.
 * @throws DomainError `not-found` when the user has no such token; `version-mismatch`
 */
export async function revokeUserToken(
  tx: Transaction,
  by: ChangeContext,
  userId: number,
  id: string,
  expected?: ExpectedVersion,
): Promise<void> {
  const token = await tx
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('client_id', 'is', null)
    .executeTakeFirst();
  if (token === undefined) throw notFound('token');
  requireVersion(expected, TOKEN_VERSION);
  await revokeToken(tx, by, token.id);
}

function grantedScopes(
  requested: readonly string[] | undefined,
  allowed: readonly Scope[],
): readonly Scope[] {
  if (requested === undefined) return defaultScopes(allowed);
  const names: readonly string[] = allowed;
  const fieldErrors = requested.flatMap((scope, index): FieldError[] =>
    names.includes(scope) ? [] : [{ property: `scopes.${index}`, code: 'scope-not-allowed', value: scope }],
  );
  if (fieldErrors.length > 0) throw invalidInput(fieldErrors);
  if (requested.length === 0) throw invalidInput({ property: 'scopes', code: 'no-scopes' });
  return [...new Set(requested)].filter(isScope);
}
