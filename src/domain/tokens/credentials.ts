import { normalizeEmail } from '../../auth/email-addresses.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { isScope, type Scope, grantableScopes } from '../../auth/scopes.ts';
import { hashSecret } from '../../auth/secrets.ts';
import { accountOf, RIGHTS_COLUMNS, type RightsRow } from '../shared/account-rights.ts';

/** One token and its account, as far as a request must know. */
export interface Credential extends RightsRow {
  tokenId: string;
  scopes: string;
  allowedAddresses: string | null;
  expiresAt: number | null;
  revokedAt: number | null;
  /** The application that it was issued to; `null` for one that a person or the command line made. */
  clientId: string | null;
  /** `null` where nobody approved anything: with a client, one that acts as an account of its own. */
  grantId: string | null;
  userId: number;
  uid: string;
  emailKey: string;
  bannedAt: number | null;
}

/** What is read of the account of a token, whichever way it is found. */
export const TOKEN_USER_COLUMNS = [
  'users.id as userId',
  'users.uid as uid',
  'users.email_key as emailKey',
  'users.banned_at as bannedAt',
  ...RIGHTS_COLUMNS,
] as const;

/** @returns whether a token is good now: it has not expired, nobody revoked it, and its user is not banned */
export function isActive(
  { expiresAt, revokedAt, bannedAt }: Pick<Credential, 'expiresAt' | 'revokedAt' | 'bannedAt'>,
  now: number,
): boolean {
  return revokedAt === null && bannedAt === null && (expiresAt === null || expiresAt > now);
}

/** @returns what a token is good for: an account that lost rights keeps its tokens, without what it may no longer hold */
export function effectiveScopes(credential: Pick<Credential, 'scopes' | keyof RightsRow>): Scope[] {
  const held = grantableScopes(accountOf(credential));
  return credential.scopes
    .split(' ')
    .filter(isScope)
    .filter((scope) => held.includes(scope));
}

const selectCredential = (db: ReadConnection) =>
  db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select([
      'tokens.id as tokenId',
      'tokens.scopes as scopes',
      'tokens.allowed_addresses as allowedAddresses',
      'tokens.expires_at as expiresAt',
      'tokens.revoked_at as revokedAt',
      'tokens.client_id as clientId',
      'tokens.grant_id as grantId',
      ...TOKEN_USER_COLUMNS,
    ]);

const byId = prepareQuery<{ id: string }, Credential>((db, p) =>
  selectCredential(db).where('tokens.id', '=', p.id),
);
const bySecret = prepareQuery<{ hash: string }, Credential>((db, p) =>
  selectCredential(db).where('tokens.secret_hash', '=', p.hash),
);

/** The one row of `credential_changes`. */
const ROW = { id: 1 };
const selectVersions = prepareQuery<typeof ROW, CredentialVersions>((db, p) =>
  db
    .selectFrom('credential_changes')
    .select(['changes as credentials', 'key_changes as keys'])
    .where('id', '=', p.id),
);

/** What may have ended a credential. Each is a number that is another one once something of the kind is durable. */
export interface CredentialVersions {
  /** Units of work that called `credentialsChanged`. */
  credentials: number;
  /** Signing keys that came or went. */
  keys: number;
}

/**
 * Tells every instance that a credential may have ended. To be called in the unit of work that bans a user, changes
 * their rights or the organizations that they are assigned to, revokes a token, or changes or deletes a client.
 */
export async function bumpCredentialVersion(tx: Transaction): Promise<void> {
  await tx
    .updateTable('credential_changes')
    .set((eb) => ({ changes: eb('changes', '+', 1) }))
    .execute();
}

/**
 * Tells every instance that a signing key came or went, and holds the keys until the unit of work ends, so that those who
 * change them take turns.
 */
export async function bumpSigningKeyVersion(tx: Transaction): Promise<void> {
  await tx
    .updateTable('credential_changes')
    .set((eb) => ({ key_changes: eb('key_changes', '+', 1) }))
    .execute();
}

/** @returns how far things have changed */
export async function readCredentialVersions(db: ReadConnection): Promise<CredentialVersions> {
  return (await selectVersions(db, ROW))[0] ?? { credentials: 0, keys: 0 };
}

/** @returns the credential with this id, valid or not */
export async function credentialById(db: ReadConnection, id: string): Promise<Credential | undefined> {
  return (await byId(db, { id }))[0];
}

/** @returns the credential of a personal access token, valid or not */
export async function credentialBySecret(db: ReadConnection, token: string): Promise<Credential | undefined> {
  return (await bySecret(db, { hash: hashSecret(token) }))[0];
}

/** By what a token is found: the hash of a secret, or the id that a JWT has; `null` both for what is none of ours. */
export interface TokenLookup {
  hash: string | null;
  id: string | null;
}

/** @returns for each of the names whether there is such a token that nobody revoked: one question for them all */
export async function areActive(db: ReadConnection, names: readonly TokenLookup[]): Promise<boolean[]> {
  const hashes = names.flatMap(({ hash }) => hash ?? []);
  const ids = names.flatMap(({ id }) => id ?? []);
  const rows = await db
    .selectFrom('tokens')
    .select(['id', 'secret_hash'])
    .where((eb) => eb.or([inList(db, eb.ref('secret_hash'), hashes), inList(db, eb.ref('id'), ids)]))
    .where('revoked_at', 'is', null)
    .execute();
  const found = new Set(rows.flatMap((row) => [row.id, row.secret_hash]));
  return names.map(({ hash, id }) => {
    const name = hash ?? id;
    return name !== null && found.has(name);
  });
}

/** An account, as far as a token that no table has must know it. */
export type TokenUser = Pick<Credential, 'userId' | 'uid' | 'emailKey' | 'bannedAt' | keyof RightsRow> & {
  /** The uid of their organization; `null` for staff. */
  organization: string | null;
  /** When the last ban of the account ended. */
  reactivatedAt: number | null;
};

const selectTokenUser = (db: ReadConnection) =>
  db
    .selectFrom('users')
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .select([
      ...TOKEN_USER_COLUMNS,
      'organizations.uid as organization',
      'users.reactivated_at as reactivatedAt',
    ]);

const tokenUserByUid = prepareQuery<{ uid: string }, TokenUser>((db, p) =>
  selectTokenUser(db).where('users.uid', '=', p.uid),
);
const tokenUserByEmail = prepareQuery<{ email: string }, TokenUser>((db, p) =>
  selectTokenUser(db).where('users.email_key', '=', p.email),
);

/** @returns the account with this uid or e-mail address, banned or not */
export async function findTokenUser(
  db: ReadConnection,
  user: { uid: string } | { email: string },
): Promise<TokenUser | undefined> {
  const found =
    'uid' in user
      ? await tokenUserByUid(db, { uid: user.uid })
      : await tokenUserByEmail(db, { email: normalizeEmail(user.email) });
  return found[0];
}

/** When and from where a token was last used. */
export interface TokenUse {
  at: number;
  address: string;
}

/** Writes the last use of each token, keyed by its id; a later use that is already there stays. */
export async function recordTokenUse(tx: Transaction, uses: ReadonlyMap<string, TokenUse>): Promise<void> {
  for (const [id, use] of uses) {
    await tx
      .updateTable('tokens')
      .set({ last_used_at: use.at, last_used_from: use.address })
      .where('id', '=', id)
      .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', use.at)]))
      .execute();
  }
}
