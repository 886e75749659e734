import { randomUUID } from 'node:crypto';
import type { Principal, ChangeContext } from '../../auth/callers.ts';
import type { Keys } from '../../auth/keys.ts';
import { isScope, type Scope, grantableScopes } from '../../auth/scopes.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { Database, ReadConnection, Transaction } from '../../db/database.ts';
import { inList, forKeyShare } from '../../db/dialect-sql.ts';
import { prepareWrite } from '../../db/prepared-queries.ts';
import { WriteBatcher } from '../../db/concurrency/write-batcher.ts';
import { recordEvents } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { CONSOLE_CLIENT } from './oauth-clients.ts';
import { claimsOf, tokenAccount, type TokenAccount } from './token-claims.ts';

export interface AccessGrant {
  userId: number;
  clientId: string;
  /**
   * Identifies an approval. A code and all tokens issued for it share the grant and end together. `null` when the
   * client acts as an account of its own.
   */
  grantId: string | null;
  scopes: readonly Scope[];
}

/** A signed access token, which is not valid until it is stored. */
export interface SignedToken extends AccessGrant {
  id: string;
  token: string;
  organizationId: number | null;
  /** Milliseconds since 1970. */
  issuedAt: number;
  expiresAt: number;
}

const selectActiveUsers = prepareWrite<{ ids: number[] }, { id: number }>((tx, p) =>
  tx
    .selectFrom('users')
    .select('id')
    .where((eb) => inList(tx, eb.ref('id'), p.ids))
    .where('banned_at', 'is', null),
);

/** Locks the clients, so that a deletion waits until the tokens are stored and then revokes them. */
const lockClients = prepareWrite<{ ids: string[] }, { id: string }>((tx, p) =>
  tx
    .selectFrom('oauth_clients')
    .select('id')
    .where((eb) => inList(tx, eb.ref('id'), p.ids))
    .modifyEnd(forKeyShare(tx)),
);

const insertTokens = prepareInsert('tokens', {
  id: 'text',
  kind: 'text',
  user_id: 'int',
  scopes: 'text',
  created_at: 'int',
  expires_at: 'int',
  client_id: 'text',
  grant_id: 'text',
});

/**
 * Parses the `scope` that an application requests (RFC 6749, section 3.3). Without one, it gets all scopes that the
 * account may hold.
 * @param requested separated by spaces
 * @returns the scopes that the account may hold, in the order of the scope table; `undefined` when one of them is
 *   not a scope
 */
export function allowedScopes(
  requested: string | undefined,
  account: Principal,
): readonly Scope[] | undefined {
  const grantable = grantableScopes(account);
  if (requested === undefined) return grantable;
  const scopes = parseScopes(requested);
  return scopes && grantable.filter((scope) => scopes.includes(scope));
}

/**
 * Parses scopes separated by spaces.
 * @returns `undefined` for none, and when one is not a scope
 */
export function parseScopes(text: string): Scope[] | undefined {
  const scopes = text.split(' ').filter((scope) => scope !== '');
  return scopes.length > 0 && scopes.every(isScope) ? scopes : undefined;
}

/**
 * Signs an access token with the scopes of the grant that the account may hold now. Call it outside transactions,
 * as signing is slow.
 * @param lifetime milliseconds
 * @throws DomainError `not-found` for an unknown or banned user; `forbidden` when the account may hold none of the
 *   scopes
 */
export async function signAccessToken(
  db: ReadConnection,
  keys: Keys,
  grant: AccessGrant,
  lifetime: number,
  now: number,
): Promise<SignedToken> {
  return signTokenForAccount(await tokenAccount(db, grant.userId), keys, grant, lifetime, now);
}

/**
 * Like `signAccessToken`, for an account that was already read.
 * @throws DomainError as `signAccessToken` does; `not-found` without an account
 */
export async function signTokenForAccount(
  account: TokenAccount | undefined,
  keys: Keys,
  grant: AccessGrant,
  lifetime: number,
  now: number,
): Promise<SignedToken> {
  if (account === undefined) throw notFound('user');
  const scopes = grantableScopes(account).filter((scope) => grant.scopes.includes(scope));
  if (scopes.length === 0) throw new DomainError('no-allowed-scopes');
  const id = randomUUID();
  const expiresAt = now + lifetime;
  const claims = claimsOf(account, { id, clientId: grant.clientId, scopes });
  const token = await keys.sign(claims, { issuedAt: now, expiresAt });
  return { ...grant, scopes, id, token, organizationId: account.organizationId, issuedAt: now, expiresAt };
}

/**
 * Stores a signed token, which makes it valid.
 * @throws DomainError `not-found` when its user was banned, or its user or client deleted, in the meantime
 */
export async function storeAccessToken(
  tx: Transaction,
  by: ChangeContext,
  signed: SignedToken,
): Promise<void> {
  const [stored] = await storeAccessTokens(tx, [{ by, signed }]);
  if (stored !== true) throw notFound('user');
}

export interface TokenToStore {
  by: ChangeContext;
  signed: SignedToken;
}

/**
 * Batches the tokens of concurrent requests in one transaction.
 * @returns a function that resolves once its token is durable, and throws what `storeAccessToken` does for that token
 */
export function createTokenBatcher(db: Database): (by: ChangeContext, signed: SignedToken) => Promise<void> {
  const shared = new WriteBatcher(db, storeAccessTokens);
  return async (by, signed) => {
    if (!(await shared.add({ by, signed }))) throw notFound('user');
  };
}

/**
 * Stores signed tokens.
 * @returns for each whether it was stored; false when its user was banned, or its user or client deleted, in the
 *   meantime
 */
async function storeAccessTokens(tx: Transaction, tokens: readonly TokenToStore[]): Promise<boolean[]> {
  const idsOf = <T>(id: (signed: SignedToken) => T): T[] => [
    ...new Set(tokens.map(({ signed }) => id(signed))),
  ];
  const clients = await lockClients(tx, { ids: idsOf(({ clientId }) => clientId) });
  const users = await selectActiveUsers(tx, { ids: idsOf(({ userId }) => userId) });
  const clientIds = new Set(clients.map(({ id }) => id));
  const userIds = new Set(users.map(({ id }) => id));
  const storable = tokens.map(({ signed }) => clientIds.has(signed.clientId) && userIds.has(signed.userId));
  const stored = tokens
    .filter((_token, index) => storable[index])
    .map(({ by, signed }) => ({ by, signed, scopes: signed.scopes.join(' ') }));
  await insertTokens(
    tx,
    stored.map(({ signed: { id, userId, clientId, grantId, issuedAt, expiresAt }, scopes }) => [
      id,
      'jwt',
      userId,
      scopes,
      issuedAt,
      expiresAt,
      clientId,
      grantId,
    ]),
  );
  // A token of the console needs no event: the audit log records the session that uses it (ADR 83).
  const recorded = stored.filter(({ signed }) => signed.clientId !== CONSOLE_CLIENT);
  await recordEvents(
    tx,
    recorded.map(({ by, signed, scopes }) => {
      const { id, userId, clientId, grantId, organizationId, expiresAt } = signed;
      const after = {
        user: userId,
        kind: 'jwt',
        client: clientId,
        grant: grantId,
        scopes,
        expires_at: expiresAt,
      };
      const object = ['token', id] as const;
      return {
        by,
        change: { action: 'token.create', object, organizationId, before: null, after },
      };
    }),
  );
  return storable;
}
