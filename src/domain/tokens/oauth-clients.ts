import type { Attribution } from '../../auth/callers.ts';
import { isScope, type Scope } from '../../auth/scopes.ts';
import { hashSecret, newSecret, randomText } from '../../auth/secrets.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { revokeClientAccessTokens } from './revoke-client-tokens.ts';
import { bumpCredentialVersion } from './credentials.ts';
import { invalidInput, notFound } from '../shared/errors.ts';
import { requireName } from '../shared/names.ts';
import { validateRedirectUri } from './redirect-uris.ts';

const ID_LENGTH = 20;
export const MAX_REDIRECT_URIS = 20;

/** The client of the API description, which every deployment has unless someone deletes it. */
export const DOCS_CLIENT = 'assay-docs';
/** Where it is answered, below the address of the deployment. */
export const DOCS_REDIRECT = '/docs/oauth2-redirect.html';

/** The client of the console, which is this deployment itself: nobody is asked whether they allow it. */
export const CONSOLE_CLIENT = 'assay-console';

/** An application that may ask for tokens (RFC 6749, section 2). */
export interface OAuthClient {
  id: string;
  name: string;
  kind: 'public' | 'confidential';
  secretHash: string | null;
  /** One that begins with a slash is relative to this deployment. */
  redirectUris: readonly string[];
  implicit: boolean;
  /** The most that it can be given; `null` for whatever its users may hold. */
  scopes: readonly Scope[] | null;
  /** The account that it acts as with client credentials; `null` forbids that grant. */
  userId: number | null;
  createdAt: number;
}

interface ClientRow {
  id: string;
  name: string;
  kind: 'public' | 'confidential';
  secret_hash: string | null;
  redirect_uris: string;
  implicit: number;
  scopes: string | null;
  user_id: number | null;
  created_at: number;
}

const byId = prepareQuery<{ id: string }, ClientRow>((db, p) =>
  db.selectFrom('oauth_clients').selectAll().where('id', '=', p.id),
);

/** @returns the client with this id */
export async function clientById(db: ReadConnection, id: string): Promise<OAuthClient | undefined> {
  const [row] = await byId(db, { id });
  return row && fromRow(row);
}

/** @returns every client, oldest first */
export async function listClients(db: ReadConnection): Promise<OAuthClient[]> {
  const rows = await db.selectFrom('oauth_clients').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(fromRow);
}

export interface NewClient {
  name: string;
  kind: 'public' | 'confidential';
  redirectUris: readonly string[];
  implicit: boolean;
  /** The most that it can be given; absent for whatever its users may hold. */
  scopes?: readonly string[] | undefined;
  /** Whom it acts as with client credentials, for a confidential client. */
  userId: number | null;
}

/**
 * Registers an application.
 * @returns its id and, for a confidential client, its secret, which is not stored and cannot be shown again
 * @throws Failure `invalid` for redirect addresses that may not be registered, scopes that are none, and a public client
 *   with an account
 */
export async function createClient(
  tx: Transaction,
  act: Attribution,
  input: NewClient,
): Promise<{ id: string; secret: string | null }> {
  const name = requireName('name', input.name);
  const { kind, redirectUris, implicit, scopes = null, userId } = input;
  if (redirectUris.length > MAX_REDIRECT_URIS)
    throw invalidInput({ property: 'redirectUris', code: 'too-many', params: { max: MAX_REDIRECT_URIS } });
  const faults = redirectUris.flatMap((uri, index) => {
    const problem = validateRedirectUri(uri);
    return problem === undefined ? [] : [{ property: `redirectUris.${index}`, ...problem, value: uri }];
  });
  if (faults.length > 0) throw invalidInput(faults);
  if (kind === 'public' && userId !== null) {
    throw invalidInput({
      property: 'userId',
      code: 'confidential-client-only',
    });
  }
  if (redirectUris.length === 0 && userId === null) {
    throw invalidInput({
      property: 'redirectUris',
      code: 'redirect-uri-or-account',
    });
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
      scopes: scopes === null ? null : [...new Set(scopes)].join(' '),
      user_id: userId,
      created_at: act.now,
    })
    .execute();
  await recordEvent(tx, act, {
    action: 'client.create',
    object: ['client', id],
    organizationId: null,
    before: null,
    after: { name, kind, redirect_uris: redirectUris, implicit, scopes, user: userId },
  });
  return { id, secret };
}

/**
 * Lets a client use the implicit flow, or no longer.
 * @throws Failure `missing` for an unknown client
 */
export async function setImplicit(
  tx: Transaction,
  act: Attribution,
  id: string,
  implicit: boolean,
): Promise<void> {
  const before = await requireClient(tx, id);
  if (before.implicit === implicit) return;
  await tx
    .updateTable('oauth_clients')
    .set({ implicit: implicit ? 1 : 0 })
    .where('id', '=', id)
    .execute();
  await bumpCredentialVersion(tx);
  await recordEvent(tx, act, {
    action: 'client.update',
    object: ['client', id],
    organizationId: null,
    before: { implicit: before.implicit },
    after: { implicit },
  });
}

/**
 * Gives a confidential client another secret; the one before is good for nothing from then on.
 * @returns the secret, which is not stored and cannot be shown again
 * @throws Failure `missing` for an unknown client, `invalid` for a public one
 */
export async function renewClientSecret(tx: Transaction, act: Attribution, id: string): Promise<string> {
  const { kind } = await requireClient(tx, id);
  if (kind === 'public') throw invalidInput({ property: 'kind', code: 'confidential-client-only' });
  const secret = newSecret();
  await tx
    .updateTable('oauth_clients')
    .set({ secret_hash: hashSecret(secret) })
    .where('id', '=', id)
    .execute();
  await bumpCredentialVersion(tx);
  await recordEvent(tx, act, {
    action: 'client.renew-secret',
    object: ['client', id],
    organizationId: null,
    before: null,
    after: null,
  });
  return secret;
}

/**
 * Deletes a client, which ends its access tokens at once, with its refresh tokens, codes and consents.
 * @throws Failure `missing` for an unknown client
 */
export async function deleteClient(tx: Transaction, act: Attribution, id: string): Promise<void> {
  const deleted = await tx
    .deleteFrom('oauth_clients')
    .where('id', '=', id)
    .returning(['name', 'kind', 'redirect_uris', 'implicit', 'scopes', 'user_id'])
    .executeTakeFirst();
  if (deleted === undefined) throw notFound('client');
  const { name, kind, redirect_uris, implicit, scopes, user_id } = deleted;
  // After the client and what hangs on it, whose rows a grant that is being made holds until its tokens are there.
  const tokens = await revokeClientAccessTokens(tx, id, null, act.now);
  await bumpCredentialVersion(tx);
  await recordEvent(tx, act, {
    action: 'client.delete',
    object: ['client', id],
    organizationId: null,
    before: {
      name,
      kind,
      redirect_uris: JSON.parse(redirect_uris) as string[],
      implicit: implicit === 1,
      scopes: scopes?.split(' ') ?? null,
      user: user_id,
    },
    after: { tokens },
  });
}

/** @returns those of the scopes that the client can be given */
export function clientScopes(client: OAuthClient, scopes: readonly Scope[]): readonly Scope[] {
  const { scopes: most } = client;
  return most === null ? scopes : scopes.filter((scope) => most.includes(scope));
}

/** @throws Failure `missing` when there is none */
export async function requireClient(db: ReadConnection, id: string): Promise<OAuthClient> {
  const client = await clientById(db, id);
  if (client === undefined) throw notFound('client');
  return client;
}

function fromRow(row: ClientRow): OAuthClient {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    secretHash: row.secret_hash,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    implicit: row.implicit === 1,
    scopes: row.scopes === null ? null : row.scopes.split(' ').filter(isScope),
    userId: row.user_id,
    createdAt: row.created_at,
  };
}
