import { randomUUID } from 'node:crypto';
import type { Reader, Transaction } from '../../db/engine.ts';
import { holdAccount } from '../users/account-rights.ts';
import { recordChange } from '../audit/record-event.ts';
import { credentialById, credentialBySecret, credentialsChanged } from './credentials.ts';
import { type Fault, invalid, missing } from '../shared/errors.ts';
import { type Expected, requireVersion } from '../shared/versions.ts';
import { cleanName } from '../shared/names.ts';
import { claimsOf, tokenAccount } from './token-claims.ts';
import { isAddressBlock } from '../../auth/ip-addresses.ts';
import type { Act } from '../../auth/callers.ts';
import type { Keys } from '../../auth/keys.ts';
import { isScope, type Scope, scopesOf } from '../../auth/scopes.ts';
import { hashSecret, newPersonalToken, shownStart } from '../../auth/secrets.ts';

export interface TokenRequest {
  userId: number;
  kind: 'personal' | 'jwt';
  /** What its owner calls it. */
  name?: string | undefined;
  /** Absent: everything that the account may hold. */
  scopes?: readonly string[] | undefined;
  /** Milliseconds since 1970; `null` for a personal access token that does not expire. */
  expiresAt: number | null;
  /** CIDR blocks or single addresses; empty allows every address. */
  allowedAddresses?: readonly string[] | undefined;
  /** How many tokens that are good now the account may have with this one; absent for as many as one likes. */
  atMost?: number;
}

export interface IssuedToken {
  id: string;
  /** The token itself, which is not stored and cannot be shown again. */
  token: string;
  expiresAt: number | null;
}

/**
 * Makes a token for an account, whether or not it has accepted its invitation, which stays as it is.
 * @throws Failure `missing` for an unknown or banned user, `invalid` for an empty name, for scopes that it may not hold,
 *   for addresses that are none, and for one token too many
 */
export async function issueToken(
  tx: Transaction,
  act: Act,
  keys: Keys,
  request: TokenRequest,
): Promise<IssuedToken> {
  const { now } = act;
  const account = await tokenAccount(tx, request.userId);
  if (account === undefined) throw missing('user');

  const allowedAddresses = request.allowedAddresses ?? [];
  const faults = tokenFaults(request.scopes ?? [], allowedAddresses);
  if (faults.length > 0) throw invalid(faults);
  const scopes = grantable(request.scopes, scopesOf(account));

  if (request.atMost !== undefined) await requireRoom(tx, request.userId, request.atMost, now);
  const id = randomUUID();
  const { kind, expiresAt } = request;
  const name = request.name === undefined ? null : cleanName('name', request.name);
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
      prefix: kind === 'personal' ? shownStart(token) : null,
    })
    .execute();
  await recordChange(tx, act, {
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
    },
  });
  return { id, token, expiresAt };
}

/** @returns what is no scope, and no address, of what a token is to have */
export function tokenFaults(scopes: readonly string[], blocks: readonly string[]): Fault[] {
  return [
    ...scopes.flatMap((scope, index) =>
      isScope(scope) ? [] : [{ property: `scopes.${index}`, message: 'is not a scope', value: scope }],
    ),
    ...blocks.flatMap((block, index) =>
      isAddressBlock(block)
        ? []
        : [
            {
              property: `allowedAddresses.${index}`,
              message: 'must be an IP address or a CIDR block such as 10.0.0.0/8',
              value: block,
            },
          ],
    ),
  ];
}

async function requireRoom(tx: Transaction, userId: number, atMost: number, now: number): Promise<void> {
  await holdAccount(tx, userId);
  if ((await listOwnTokens(tx, userId, now)).length >= atMost)
    throw invalid({
      property: 'name',
      message: `cannot be given: you have ${atMost} tokens, and no more are allowed. Revoke one first`,
    });
}

/**
 * Revokes a token for good, by its id or, for a personal access token, by the token itself.
 * @throws Failure `missing` when there is none; revoking a revoked one changes nothing
 */
export async function revokeToken(tx: Transaction, act: Act, idOrToken: string): Promise<{ id: string }> {
  const found = (await credentialById(tx, idOrToken)) ?? (await credentialBySecret(tx, idOrToken));
  if (found === undefined) throw missing('token');
  const revoked = await tx
    .updateTable('tokens')
    .set({ revoked_at: act.now })
    .where('id', '=', found.tokenId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (revoked !== undefined) {
    await credentialsChanged(tx);
    await recordChange(tx, act, {
      action: 'token.revoke',
      object: ['token', found.tokenId],
      organizationId: found.organizationId,
      before: { revoked_at: null },
      after: { revoked_at: act.now },
    });
  }
  return { id: found.tokenId };
}

/** How many tokens that are good an account may have, where its user makes them: one that is listed is one row of a page. */
export const MAX_OWN_TOKENS = 100;

/** Nothing of a token can be changed. */
export const TOKEN_VERSION = 1;

/** A token as its owner sees it. */
export interface OwnToken {
  id: string;
  kind: 'personal' | 'jwt';
  name: string | null;
  scopes: readonly string[];
  allowedAddresses: readonly string[];
  createdAt: number;
  expiresAt: number | null;
  /** `null` for one that was not used yet. */
  lastUsedAt: number | null;
  lastUsedFrom: string | null;
}

/** @returns the tokens of a user that are good now and belong to no application, newest first */
export async function listOwnTokens(db: Reader, userId: number, now: number): Promise<OwnToken[]> {
  const rows = await db
    .selectFrom('tokens')
    .select([
      'id',
      'kind',
      'name',
      'scopes',
      'allowed_addresses',
      'created_at',
      'expires_at',
      'last_used_at',
      'last_used_from',
    ])
    .where('user_id', '=', userId)
    .where('client_id', 'is', null)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    name: row.name,
    scopes: row.scopes.split(' '),
    allowedAddresses: row.allowed_addresses === null ? [] : (JSON.parse(row.allowed_addresses) as string[]),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    lastUsedFrom: row.last_used_from,
  }));
}

/**
 * Revokes one of the tokens that `listOwnTokens` shows.
 * @throws Failure `missing` when the user has no such token, whoever else may have it; `changed` for another version than
 *   is expected
 */
export async function revokeOwnToken(
  tx: Transaction,
  act: Act,
  userId: number,
  id: string,
  expected?: Expected,
): Promise<void> {
  const own = await tx
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('client_id', 'is', null)
    .executeTakeFirst();
  if (own === undefined) throw missing('token');
  requireVersion(expected, TOKEN_VERSION);
  await revokeToken(tx, act, own.id);
}

/** @returns every token, without its secret, oldest first */
export async function listTokens(db: Reader) {
  return db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select([
      'tokens.id',
      'tokens.name',
      'tokens.kind',
      'users.email',
      'tokens.scopes',
      'tokens.allowed_addresses',
      'tokens.created_at',
      'tokens.expires_at',
      'tokens.revoked_at',
      'tokens.last_used_at',
      'tokens.last_used_from',
    ])
    .orderBy('tokens.created_at')
    .orderBy('tokens.id')
    .execute();
}

function grantable(requested: readonly string[] | undefined, allowed: readonly Scope[]): readonly Scope[] {
  if (requested === undefined) return allowed;
  const held: readonly string[] = allowed;
  const faults = requested.flatMap((scope, index) =>
    held.includes(scope)
      ? []
      : [{ property: `scopes.${index}`, message: 'is more than this account may hold', value: scope }],
  );
  if (faults.length > 0) throw invalid(faults);
  if (requested.length === 0) throw invalid({ property: 'scopes', message: 'must name at least one scope' });
  return [...new Set(requested)].filter(isScope);
}
