import { randomUUID } from 'node:crypto';
import type { Actor } from '../auth/callers.ts';
import type { Keys } from '../auth/keys.ts';
import { isScope, type Scope, scopesOf } from '../auth/scopes.ts';
import type { Reader, Transaction } from '../db/engine.ts';
import { prepare, prepareWrite } from '../db/prepared.ts';
import { recordChange } from './audit.ts';
import { Failure, missing } from './failure.ts';

/** What an application was given. */
export interface AccessGrant {
  userId: number;
  clientId: string;
  /**
   * What one approval gave: a code, its access tokens and its refresh tokens share it, and end together. `null` where
   * nobody approved anything, as the client acts as an account of its own.
   */
  grantId: string | null;
  scopes: readonly Scope[];
}

/** An access token that is signed and not good yet: it is once it is stored. */
export interface SignedToken extends AccessGrant {
  id: string;
  token: string;
  organizationId: number | null;
  /** In milliseconds since 1970. */
  issuedAt: number;
  expiresAt: number;
}

interface AccountRow {
  uid: string;
  admin: number;
  staff: number;
  organization_id: number | null;
  organization: string | null;
}

const accountById = prepare<{ id: number }, AccountRow>((db, p) =>
  db
    .selectFrom('users')
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .select([
      'users.uid',
      'users.admin',
      'users.staff',
      'users.organization_id',
      'organizations.uid as organization',
    ])
    .where('users.id', '=', p.id)
    .where('users.banned_at', 'is', null),
);

/** Takes its row from the account and the client, so that a ban or a deletion in between leaves nothing to insert. */
const insertToken = prepareWrite<
  {
    id: string;
    user: number;
    scopes: string;
    issued: number;
    expires: number;
    client: string;
    grant: string | null;
  },
  { id: string }
>((tx, p) =>
  tx
    .insertInto('tokens')
    .columns(['id', 'kind', 'user_id', 'scopes', 'created_at', 'expires_at', 'client_id', 'grant_id'])
    .expression(
      tx
        .selectFrom('users')
        .select((eb) => [
          eb.cast<string>(eb.val(p.id), 'text').as('id'),
          eb.val('jwt').as('kind'),
          'users.id as user_id',
          eb.cast<string>(eb.val(p.scopes), 'text').as('scopes'),
          eb.cast<number>(eb.val(p.issued), 'bigint').as('created_at'),
          eb.cast<number>(eb.val(p.expires), 'bigint').as('expires_at'),
          eb.cast<string>(eb.val(p.client), 'text').as('client_id'),
          eb.cast<string>(eb.val(p.grant), 'text').as('grant_id'),
        ])
        .where('users.id', '=', p.user)
        .where('users.banned_at', 'is', null)
        .where((eb) =>
          eb.exists(eb.selectFrom('oauth_clients').select('id').where('oauth_clients.id', '=', p.client)),
        ),
    )
    .returning('id'),
);

/**
 * Reads what an application asks for (RFC 6749, section 3.3). It gets what the account may hold of it, and all of that
 * when it does not say.
 * @param requested separated by spaces
 * @returns the scopes, in the order of the scope table; none when the account may hold none of them; `undefined` when one
 *   of them is no scope at all
 */
export function allowedScopes(
  requested: string | undefined,
  account: { staff: boolean; admin: boolean },
): readonly Scope[] | undefined {
  const held = scopesOf(account);
  if (requested === undefined) return held;
  const asked = scopesIn(requested);
  return asked && held.filter((scope) => asked.includes(scope));
}

/** @returns the scopes that a text names, separated by spaces; `undefined` when there is none, or one that is no scope */
export function scopesIn(text: string): Scope[] | undefined {
  const scopes = text.split(' ').filter((scope) => scope !== '');
  return scopes.length > 0 && scopes.every(isScope) ? scopes : undefined;
}

/**
 * Signs an access token for an application, outside any unit of work, as signing takes its time. It has what the account
 * may hold now of the grant's scopes.
 * @param lifetime in milliseconds
 * @throws Failure `missing` for an unknown or banned user, `forbidden` when its account may hold none of the scopes
 */
export async function signAccessToken(
  db: Reader,
  keys: Keys,
  grant: AccessGrant,
  lifetime: number,
  now: number,
): Promise<SignedToken> {
  const [account] = await accountById(db, { id: grant.userId });
  if (account === undefined) throw missing('user');
  const scopes = scopesOf({ staff: account.staff === 1, admin: account.admin === 1 }).filter((scope) =>
    grant.scopes.includes(scope),
  );
  if (scopes.length === 0)
    throw new Failure('forbidden', 'The account may hold none of the scopes that were asked for.');
  const id = randomUUID();
  const expiresAt = now + lifetime;
  const token = await keys.sign(
    {
      jti: id,
      sub: account.uid,
      client_id: grant.clientId,
      scope: scopes.join(' '),
      ...(account.organization === null ? {} : { org: account.organization }),
      admin: account.admin === 1,
      staff: account.staff === 1,
    },
    { issuedAt: now, expiresAt },
  );
  return { ...grant, scopes, id, token, organizationId: account.organization_id, issuedAt: now, expiresAt };
}

/**
 * Stores a signed token, from when on it is good.
 * @throws Failure `missing` when its user was banned, or it or its client deleted, in the meantime
 */
export async function storeAccessToken(tx: Transaction, actor: Actor, signed: SignedToken): Promise<void> {
  const { id, userId, clientId, grantId, organizationId, issuedAt, expiresAt } = signed;
  const scopes = signed.scopes.join(' ');
  const [stored] = await insertToken(tx, {
    id,
    user: userId,
    scopes,
    issued: issuedAt,
    expires: expiresAt,
    client: clientId,
    grant: grantId,
  });
  if (stored === undefined) throw missing('user');
  await recordChange(tx, actor, {
    at: issuedAt,
    action: 'token.create',
    object: ['token', id],
    organizationId,
    before: null,
    after: { user: userId, kind: 'jwt', client: clientId, grant: grantId, scopes, expires_at: expiresAt },
  });
}
