import type { ChangeContext } from '../../auth/callers.ts';
import { coversScope, isScope, type Scope } from '../../auth/scopes.ts';
import { hashSecret, newSecret, randomText } from '../../auth/secrets.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import type { Row } from '../../db/schema.ts';
import { recordEvent } from '../audit/record-event.ts';
import { revokeTokens } from './revoke-tokens.ts';
import { bumpCredentialVersion } from './credentials.ts';
import { invalidInput, notFound } from '../shared/errors.ts';
import { requireName } from '../shared/names.ts';
import { validateRedirectUri } from './redirect-uris.ts';

const ID_LENGTH = 20;
const MAX_REDIRECT_URIS = 20;

/** The client of the API documentation, which every deployment has until it is deleted. */
export const DOCS_CLIENT = 'assay-docs';
/** Relative to the deployment's URL. */
export const DOCS_REDIRECT = '/docs/oauth2-redirect.html';

/** The client of the console, which needs no consent. */
export const CONSOLE_CLIENT = 'assay-console';

/** An OAuth client (RFC 6749, section 2). */
export interface OAuthClient {
  id: string;
  name: string;
  kind: 'public' | 'confidential';
  secretHash: string | null;
  /** Paths are relative to this deployment. */
  redirectUris: readonly string[];
  implicit: boolean;
  /** The scopes that it is limited to; `null` for no limit. */
  scopes: readonly Scope[] | null;
  /** The account that it acts as with client credentials; `null` disables that grant. */
  userId: number | null;
  createdAt: number;
}

const selectById = prepareQuery((db, p: { id: string }) =>
  db.selectFrom('oauth_clients').selectAll().where('id', '=', p.id),
);

export async function clientById(db: ReadConnection, id: string): Promise<OAuthClient | undefined> {
  const [row] = await selectById(db, { id });
  return row && fromRow(row);
}

/** @returns all clients, oldest first */
export async function listOAuthClients(db: ReadConnection): Promise<OAuthClient[]> {
  const rows = await db.selectFrom('oauth_clients').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(fromRow);
}

export interface NewOAuthClient {
  name: string;
  kind: 'public' | 'confidential';
  redirectUris: readonly string[];
  implicit: boolean;
  /** The scopes that it is limited to; absent for no limit. */
  scopes?: readonly string[] | undefined;
  /** The account that a confidential client acts as with client credentials. */
  userId: number | null;
}

/**
 * Registers a client.
 * @returns its id and, for a confidential client, its secret, which is not stored
 * @throws DomainError `invalid` for a redirect URI or scope, and for a public client with an account
 */
export async function createOAuthClient(
  tx: Transaction,
  by: ChangeContext,
  input: NewOAuthClient,
): Promise<{ id: string; secret: string | null }> {
  const name = requireName('name', input.name);
  const { kind, redirectUris, implicit, scopes = null, userId } = input;
  if (redirectUris.length > MAX_REDIRECT_URIS)
    throw invalidInput({ property: 'redirectUris', code: 'too-many', params: { max: MAX_REDIRECT_URIS } });
  const fieldErrors = redirectUris.flatMap((uri, index) => {
    const problem = validateRedirectUri(uri);
    return problem === undefined ? [] : [{ property: `redirectUris.${index}`, ...problem, value: uri }];
  });
  if (fieldErrors.length > 0) throw invalidInput(fieldErrors);
  if (kind === 'public' && userId !== null) {
    throw invalidInput({ property: 'userId', code: 'confidential-client-only' });
  }
  if (redirectUris.length === 0 && userId === null) {
    throw invalidInput({ property: 'redirectUris', code: 'redirect-uri-or-account' });
  }
  const unknown = scopes?.find((scope) => !isScope(scope));
  if (unknown !== undefined)
    throw invalidInput({ property: 'scopes', code: 'unknown-scope', value: unknown });
  if (scopes?.length === 0) throw invalidInput({ property: 'scopes', code: 'no-scopes' });
  const id = randomText(ID_LENGTH);
  const secret = kind === 'confidential' ? newSecret() : null;
  await tx
    .insertInto('oauth_clients')
    .values({
      id,
      name,
      kind,
      secret_hash: secret === null ? null : hashSecret(secret),
      redirect_uris: JSON.stringify(redirectUris),
      implicit: implicit ? 1 : 0,
      scopes: scopes === null ? null : JSON.stringify([...new Set(scopes)]),
      user_id: userId,
      created_at: by.now,
    })
    .execute();
  await recordEvent(tx, by, {
    action: 'client.create',
    object: ['client', id],
    organizationId: null,
    before: null,
    after: { name, kind, redirect_uris: redirectUris, implicit, scopes, user: userId },
  });
  return { id, secret };
}

/**
 * Enables or disables the implicit flow.
 * @throws DomainError `not-found` for the client
 */
export async function setImplicit(
  tx: Transaction,
  by: ChangeContext,
  id: string,
  implicit: boolean,
): Promise<void> {
  const before = await requireOAuthClient(tx, id);
  if (before.implicit === implicit) return;
  await tx
    .updateTable('oauth_clients')
    .set({ implicit: implicit ? 1 : 0 })
    .where('id', '=', id)
    .execute();
  await bumpCredentialVersion(tx);
  await recordEvent(tx, by, {
    action: 'client.update',
    object: ['client', id],
    organizationId: null,
    before: { implicit: before.implicit },
    after: { implicit },
  });
}

/**
 * Replaces the secret of a confidential client.
 * @returns the secret, which is not stored
 * @throws DomainError `not-found` for the client; `invalid` for a public one
 */
export async function renewClientSecret(tx: Transaction, by: ChangeContext, id: string): Promise<string> {
  const { kind } = await requireOAuthClient(tx, id);
  if (kind === 'public') throw invalidInput({ property: 'kind', code: 'confidential-client-only' });
  const secret = newSecret();
  await tx
    .updateTable('oauth_clients')
    .set({ secret_hash: hashSecret(secret) })
    .where('id', '=', id)
    .execute();
  await bumpCredentialVersion(tx);
  await recordEvent(tx, by, {
    action: 'client.renew-secret',
    object: ['client', id],
    organizationId: null,
    before: null,
    after: null,
  });
  return secret;
}

/**
 * Deletes a client with its refresh tokens, codes and consents, and revokes its access tokens.
 * @throws DomainError `not-found` for the client
 */
export async function deleteOAuthClient(tx: Transaction, by: ChangeContext, id: string): Promise<void> {
  const deleted = await tx
    .deleteFrom('oauth_clients')
    .where('id', '=', id)
    .returning(['name', 'kind', 'redirect_uris', 'implicit', 'scopes', 'user_id'])
    .executeTakeFirst();
  if (deleted === undefined) throw notFound('client');
  const { name, kind, redirect_uris, implicit, scopes, user_id } = deleted;
  // Runs after the deletion, which waits for transactions that issue tokens and hold the client's row.
  const tokens = await revokeTokens(tx, by, { clientId: id });
  await bumpCredentialVersion(tx);
  await recordEvent(tx, by, {
    action: 'client.delete',
    object: ['client', id],
    organizationId: null,
    before: {
      name,
      kind,
      redirect_uris: JSON.parse(redirect_uris) as string[],
      implicit: implicit === 1,
      scopes: scopes === null ? null : (JSON.parse(scopes) as string[]),
      user: user_id,
    },
    after: { tokens: tokens.length },
  });
}

/** @returns the scopes that the client may be given */
export function clientScopes(client: OAuthClient, scopes: readonly Scope[]): readonly Scope[] {
  const { scopes: allowed } = client;
  if (allowed === null) return scopes;
  const held = new Set(allowed);
  return scopes.filter((scope) => coversScope(held, scope));
}

/** @throws DomainError `not-found` for the client */
export async function requireOAuthClient(db: ReadConnection, id: string): Promise<OAuthClient> {
  const client = await clientById(db, id);
  if (client === undefined) throw notFound('client');
  return client;
}

function fromRow(row: Row<'oauth_clients'>): OAuthClient {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    secretHash: row.secret_hash,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    implicit: row.implicit === 1,
    scopes: row.scopes === null ? null : (JSON.parse(row.scopes) as string[]).filter(isScope),
    userId: row.user_id,
    createdAt: row.created_at,
  };
}
