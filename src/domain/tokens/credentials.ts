import { normalizeEmail } from '../../auth/email-addresses.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { isScope, type Scope, grantableScopes } from '../../auth/scopes.ts';
import { hashSecret } from '../../auth/secrets.ts';
import { accountOf, RIGHTS_COLUMNS, type RightsRow } from '../shared/account-rights.ts';

/** A token and its account, as far as requests need them. */
export interface Credential extends RightsRow {
  tokenId: string;
  scopes: string;
  allowedAddresses: string | null;
  expiresAt: number | null;
  revokedAt: number | null;
  /** The application that it was issued to; `null` for personal tokens and tokens that the command line created. */
  clientId: string | null;
  /** `null` if no user approved the token; if it has a client, the client then acts as its own account. */
  grantId: string | null;
  userId: number;
  uid: string;
  emailKey: string;
  bannedAt: number | null;
}

export const TOKEN_USER_COLUMNS = [
  'users.id as userId',
  'users.uid as uid',
  'users.normalized_email as emailKey',
  'users.banned_at as bannedAt',
  ...RIGHTS_COLUMNS,
] as const;

/** Whether a token is valid now: not expired, not revoked, and its user not banned. */
export function isActive(
  { expiresAt, revokedAt, bannedAt }: Pick<Credential, 'expiresAt' | 'revokedAt' | 'bannedAt'>,
  now: number,
): boolean {
  return revokedAt === null && bannedAt === null && (expiresAt === null || expiresAt > now);
}

/** @returns the scopes of a token that its account may still hold */
export function effectiveScopes(credential: Pick<Credential, 'scopes' | keyof RightsRow>): Scope[] {
  const granted = grantableScopes(accountOf(credential));
  return credential.scopes
    .split(' ')
    .filter(isScope)
    .filter((scope) => granted.includes(scope));
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

const selectById = prepareQuery<{ id: string }, Credential>((db, p) =>
  selectCredential(db).where('tokens.id', '=', p.id),
);
const selectBySecret = prepareQuery<{ hash: string }, Credential>((db, p) =>
  selectCredential(db).where('tokens.secret_hash', '=', p.hash),
);

/** The only row of `credential_versions`. */
const ROW = { id: 1 };
const selectVersions = prepareQuery<typeof ROW, CredentialVersions>((db, p) =>
  db.selectFrom('credential_versions').select(['credentials', 'signing_keys as keys']).where('id', '=', p.id),
);

/** Versions that change with every committed change of their kind. */
export interface CredentialVersions {
  /** Bumped by `bumpCredentialVersion`. */
  credentials: number;
  /** Bumped by `bumpSigningKeyVersion`: when a signing key is added or removed, and when the keys are resealed. */
  keys: number;
}

/**
 * Invalidates cached credentials in all instances. Call it in the transaction that bans a user, changes their
 * rights or assigned organizations, revokes a token, or changes or deletes a client.
 */
export async function bumpCredentialVersion(tx: Transaction): Promise<void> {
  await tx
    .updateTable('credential_versions')
    .set((eb) => ({ credentials: eb('credentials', '+', 1) }))
    .execute();
}

/** Invalidates cached signing keys in all instances, and locks the keys until the transaction ends. */
export async function bumpSigningKeyVersion(tx: Transaction): Promise<void> {
  await tx
    .updateTable('credential_versions')
    .set((eb) => ({ signing_keys: eb('signing_keys', '+', 1) }))
    .execute();
}

export async function readCredentialVersions(db: ReadConnection): Promise<CredentialVersions> {
  return (await selectVersions(db, ROW))[0] ?? { credentials: 0, keys: 0 };
}

/** @returns the credential with this id, valid or not */
export async function credentialById(db: ReadConnection, id: string): Promise<Credential | undefined> {
  return (await selectById(db, { id }))[0];
}

/** @returns the credential of a personal access token, valid or not */
export async function credentialBySecret(db: ReadConnection, token: string): Promise<Credential | undefined> {
  return (await selectBySecret(db, { hash: hashSecret(token) }))[0];
}

/** Identifies a token by the hash of its secret or by its `jti`; both are `null` for a JWT that is not valid. */
export interface TokenLookup {
  hash: string | null;
  id: string | null;
}

/** @returns for each token whether it exists and is not revoked, in one query */
export async function areUnrevoked(db: ReadConnection, lookups: readonly TokenLookup[]): Promise<boolean[]> {
  const hashes = lookups.flatMap(({ hash }) => hash ?? []);
  const ids = lookups.flatMap(({ id }) => id ?? []);
  const rows = await db
    .selectFrom('tokens')
    .select(['id', 'secret_hash'])
    .where((eb) => eb.or([inList(db, eb.ref('secret_hash'), hashes), inList(db, eb.ref('id'), ids)]))
    .where('revoked_at', 'is', null)
    .execute();
  const unrevoked = new Set(rows.flatMap((row) => [row.id, row.secret_hash]));
  return lookups.map(({ hash, id }) => {
    const name = hash ?? id;
    return name !== null && unrevoked.has(name);
  });
}

/** The account of a token that is not stored, such as one of the external issuer. */
export type TokenUser = Pick<Credential, 'userId' | 'uid' | 'emailKey' | 'bannedAt' | keyof RightsRow> & {
  /** The uid of the organization; `null` for staff. */
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
  selectTokenUser(db).where('users.normalized_email', '=', p.email),
);

/** @returns the account with this uid or email address, banned or not */
export async function findTokenUser(
  db: ReadConnection,
  user: { uid: string } | { email: string },
): Promise<TokenUser | undefined> {
  const rows =
    'uid' in user
      ? await tokenUserByUid(db, { uid: user.uid })
      : await tokenUserByEmail(db, { email: normalizeEmail(user.email) });
  return rows[0];
}

export interface TokenUse {
  at: number;
  address: string;
}

/** Records the last use of tokens by id. Never overwrites a later use. */
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
