import type { ChangeContext } from '../../auth/callers.ts';
import { coversScope, type Scope } from '../../auth/scopes.ts';
import { type ReadConnection, type Transaction, StorageError } from '../../db/database.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { revokeClientRefreshTokens, revokeTokens } from './revoke-tokens.ts';
import { bumpCredentialVersion } from './credentials.ts';
import { notFound } from '../shared/errors.ts';

export interface ConsentingUser {
  userId: number;
  organizationId: number | null;
  clientId: string;
}

interface Key {
  user: number;
  client: string;
  scopes: string;
}

const scopeSets = prepareQuery<Omit<Key, 'scopes'>, { scopes: string }>((db, p) =>
  db
    .selectFrom('oauth_consents')
    .select('scopes')
    .where('user_id', '=', p.user)
    .where('client_id', '=', p.client),
);

/** Locks the row, so that a revocation waits for the tokens issued meanwhile and revokes them. */
const lockRow = prepareWrite<Key, { scopes: string }>((tx, p) =>
  tx
    .selectFrom('oauth_consents')
    .select('scopes')
    .where('user_id', '=', p.user)
    .where('client_id', '=', p.client)
    .where('scopes', '=', p.scopes)
    .modifyEnd(forNoKeyUpdate(tx)),
);

const insertRow = prepareWrite<Key & { now: number }, { scopes: string }>((tx, p) =>
  tx
    .insertInto('oauth_consents')
    .values({ user_id: p.user, client_id: p.client, scopes: p.scopes, created_at: p.now })
    .onConflict((conflict) => conflict.columns(['user_id', 'client_id', 'scopes']).doNothing())
    .returning('scopes'),
);

/** @returns whether the user has a consent that includes all of these scopes */
export async function hasConsented(
  db: ReadConnection,
  { userId, clientId }: ConsentingUser,
  scopes: readonly Scope[],
): Promise<boolean> {
  return (await findCoveringScopes(db, userId, clientId, scopes)) !== undefined;
}

/**
 * Locks a consent in the transaction that relies on it.
 * @returns false when it was revoked
 */
export async function lockConsent(
  tx: Transaction,
  { userId, clientId }: ConsentingUser,
  scopes: readonly Scope[],
): Promise<boolean> {
  const coveringScopes = await findCoveringScopes(tx, userId, clientId, scopes);
  if (coveringScopes === undefined) return false;
  return (await lockRow(tx, { user: userId, client: clientId, scopes: coveringScopes })).length > 0;
}

/**
 * Saves a consent.
 * @param scopes in the order of the scope table, as `allowedScopes` returns them
 */
export async function saveConsent(
  tx: Transaction,
  by: ChangeContext,
  consenter: ConsentingUser,
  scopes: readonly Scope[],
): Promise<void> {
  const { userId, organizationId, clientId } = consenter;
  const key = { user: userId, client: clientId, scopes: scopes.join(' ') };
  const inserted = await insertRow(tx, { ...key, now: by.now });
  if (inserted.length === 0) {
    if ((await lockRow(tx, key)).length === 0)
      throw new StorageError('conflict', 'The consent was withdrawn at the same time.');
    return;
  }
  await recordEvent(tx, by, {
    action: 'consent.give',
    object: ['client', clientId],
    organizationId,
    before: null,
    after: { user: userId, scopes: key.scopes },
  });
}

/**
 * Revokes all consents of a user to a client: its access tokens, refresh tokens and unused codes for the user end.
 * @throws DomainError `not-found` without a consent
 */
export async function revokeConsent(
  tx: Transaction,
  by: ChangeContext,
  { userId, organizationId, clientId }: ConsentingUser,
): Promise<void> {
  const withdrawn = await tx
    .deleteFrom('oauth_consents')
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .returning('scopes')
    .execute();
  if (withdrawn.length === 0) throw notFound('application');
  const codes = await tx
    .deleteFrom('authorization_codes')
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .where('used_at', 'is', null)
    .executeTakeFirst();
  const refreshTokens = await revokeClientRefreshTokens(tx, clientId, userId, by.now);
  const accessTokens = await revokeTokens(tx, by, { clientId, userIds: [userId] });
  await bumpCredentialVersion(tx);
  await recordEvent(tx, by, {
    action: 'consent.withdraw',
    object: ['client', clientId],
    organizationId,
    before: { user: userId, scopes: withdrawn.map(({ scopes }) => scopes).sort() },
    after: {
      codes: Number(codes.numDeletedRows),
      refresh_tokens: refreshTokens,
      access_tokens: accessTokens.length,
    },
  });
}

export interface ConnectedApplication {
  clientId: string;
  name: string;
  /** The scopes of all its consents. */
  scopes: string[];
  /** The time of its first consent, in milliseconds since 1970. */
  connectedAt: number;
  /** The last use of one of its tokens; `null` if none is stored. */
  lastUse: { at: number; address: string | null } | null;
}

/** @returns the applications with a consent of the user, by name */
export async function listConnectedApplications(
  db: ReadConnection,
  userId: number,
): Promise<ConnectedApplication[]> {
  const rows = await db
    .selectFrom('oauth_consents')
    .innerJoin('oauth_clients', 'oauth_clients.id', 'oauth_consents.client_id')
    .select(['oauth_clients.id', 'oauth_clients.name', 'oauth_consents.scopes', 'oauth_consents.created_at'])
    .where('oauth_consents.user_id', '=', userId)
    .orderBy('oauth_clients.name')
    .orderBy('oauth_clients.id')
    .orderBy('oauth_consents.created_at')
    .execute();
  const applications = new Map<string, ConnectedApplication>();
  for (const { id, name, scopes, created_at } of rows) {
    const application = applications.get(id);
    const all = [...new Set([...(application?.scopes ?? []), ...scopes.split(' ')])];
    applications.set(id, {
      clientId: id,
      name,
      scopes: all,
      connectedAt: application?.connectedAt ?? created_at,
      lastUse: application === undefined ? await lastUseOf(db, userId, id) : application.lastUse,
    });
  }
  return [...applications.values()];
}

async function lastUseOf(
  db: ReadConnection,
  userId: number,
  clientId: string,
): Promise<ConnectedApplication['lastUse']> {
  const row = await db
    .selectFrom('tokens')
    .select(['last_used_at', 'last_used_from'])
    .where('client_id', '=', clientId)
    .where('user_id', '=', userId)
    .where('last_used_at', 'is not', null)
    .orderBy('last_used_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined || row.last_used_at === null
    ? null
    : { at: row.last_used_at, address: row.last_used_from };
}

/** @returns the scopes of a consent that includes all of these, separated by spaces as stored */
async function findCoveringScopes(
  db: ReadConnection,
  userId: number,
  clientId: string,
  scopes: readonly Scope[],
): Promise<string | undefined> {
  const sets = await scopeSets(db, { user: userId, client: clientId });
  return sets.find((set) => {
    const allowed = new Set(set.scopes.split(' '));
    return scopes.every((scope) => coversScope(allowed, scope));
  })?.scopes;
}
