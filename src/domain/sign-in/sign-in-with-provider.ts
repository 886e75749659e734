import type { ChangeContext } from '../../auth/callers.ts';
import type { EmailClaims } from '../../auth/email-claims.ts';
import { emailHost, normalizeEmail, isEmail } from '../../auth/email-addresses.ts';
import { replaceHiddenCharacters } from '../../auth/visible-text.ts';
import { type ReadConnection, type Transaction, StorageError } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import type { Row } from '../../db/schema.ts';
import { recordEvent } from '../audit/record-event.ts';
import type { DeniedAttempts } from '../audit/denied-attempts.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { MAX_NAME_LENGTH } from '../shared/names.ts';
import { syncProviderGroups } from './sync-provider-groups.ts';
import { domainsOf, type IdentityProvider } from './identity-providers.ts';
import { isBannedAddress } from '../users/ban-user.ts';
import { createUser } from '../users/users.ts';
import { validateUserName } from '../users/user-names.ts';

/** OpenID Connect Core 1.0, section 2: at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** A user whom an organization's provider has authenticated. */
export interface VerifiedIdentity {
  issuer: string;
  subject: string;
  email: EmailClaims | undefined;
  name: string | undefined;
  groups: readonly string[];
}

type LinkedAccount = Pick<Row<'users'>, 'id' | 'organization_id' | 'admin' | 'accepted_at' | 'banned_at'>;

const selectByIdentity = prepareQuery<
  { organization: number; issuer: string; subject: string },
  LinkedAccount
>((db, p) =>
  db
    .selectFrom('identities')
    .innerJoin('users', 'users.id', 'identities.user_id')
    .select(['users.id', 'users.organization_id', 'users.admin', 'users.accepted_at', 'users.banned_at'])
    .where('identities.organization_id', '=', p.organization)
    .where('identities.issuer', '=', p.issuer)
    .where('identities.subject', '=', p.subject),
);

/**
 * Finds the account of a user authenticated by their organization's provider: the linked account; else the
 * organization's account with the verified email address, which is linked; else a new one. Then syncs their
 * groups. Accounts of other organizations and of staff are never touched.
 * @throws DomainError `forbidden` with a reason for the user; StorageError `conflict` when the same user signs in
 *   concurrently, so that the transaction is retried
 */
export async function signInWithProvider(
  tx: Transaction,
  by: ChangeContext,
  provider: IdentityProvider,
  identity: VerifiedIdentity,
): Promise<{ userId: number; organizationId: number }> {
  const { organizationId } = provider;
  const { issuer, subject } = identity;
  if (!SUBJECT.test(subject)) throw new DomainError('sso-subject-invalid');
  const [linked] = await selectByIdentity(tx, { organization: organizationId, issuer, subject });
  const account = linked ?? (await findOrCreate(tx, by, provider, identity));
  if (account.banned_at !== null || account.organization_id !== organizationId) throw accountUnavailable();
  if (linked === undefined) await linkIdentity(tx, by, account.id, provider, identity);
  await acceptInvitationOf(tx, by, account);
  await syncProviderGroups(tx, by, provider, { id: account.id, admin: account.admin === 1 }, identity.groups);
  return { userId: account.id, organizationId };
}

export function recordDeniedIdentity(
  deniedAttempts: DeniedAttempts,
  by: ChangeContext,
  provider: IdentityProvider,
  reason: string,
): void {
  deniedAttempts.record(by, {
    action: 'identity-provider.refuse',
    object: ['identity-provider', provider.organization],
    organizationId: provider.organizationId,
    details: { method: 'sso', issuer: provider.issuer, reason },
  });
}

/**
 * Unlinks an account from its provider, so that its next sign-in links it again.
 * @throws DomainError `not-found` when it is not linked
 */
export async function unlinkIdentities(tx: Transaction, by: ChangeContext, userId: number): Promise<void> {
  const unlinked = await tx
    .deleteFrom('identities')
    .where('user_id', '=', userId)
    .returning(['organization_id', 'issuer', 'subject'])
    .execute();
  if (unlinked.length === 0) throw notFound('identity');
  for (const { organization_id, issuer, subject } of unlinked) {
    await recordEvent(tx, by, {
      action: 'identity.unlink',
      object: ['user', userId],
      organizationId: organization_id,
      before: { issuer, subject },
      after: null,
    });
  }
}

async function findOrCreate(
  tx: Transaction,
  by: ChangeContext,
  provider: IdentityProvider,
  identity: VerifiedIdentity,
): Promise<LinkedAccount> {
  const { organizationId } = provider;
  const { issuer, subject } = identity;
  const email = requireVerifiedEmail(provider, identity);
  if (!isEmail(email)) throw new DomainError('sso-email-invalid');
  if (!(await domainsOf(tx, organizationId)).includes(emailHost(email)))
    throw new DomainError('sso-email-domain', { organization: provider.organizationName });
  const user = await tx
    .selectFrom('users')
    .select(['id', 'organization_id', 'admin', 'accepted_at', 'banned_at'])
    .where('normalized_email', '=', normalizeEmail(email))
    .executeTakeFirst();
  if (user === undefined) {
    if (await isBannedAddress(tx, organizationId, email)) throw accountUnavailable();
    return createProviderUser(tx, by, provider, email, identity.name);
  }
  if (user.organization_id !== organizationId) {
    throw new DomainError('sso-account-elsewhere');
  }
  const linked = await subjectsOf(tx, user.id, issuer);
  // A concurrent sign-in of the same user linked it.
  if (linked.includes(subject))
    throw new StorageError('conflict', 'Someone else links this identity at the same time.');
  // An address may be given to another person later; the account stays with the first.
  if (linked.length > 0) {
    throw new DomainError('sso-account-linked');
  }
  return user;
}

/**
 * @throws DomainError `forbidden` unless the provider says that it has verified the address, or does not say whether it
 *   has and is trusted
 */
function requireVerifiedEmail({ trustEmail }: IdentityProvider, { email: claims }: VerifiedIdentity): string {
  if (claims === undefined) throw new DomainError('sso-email-missing');
  const { email, verified } = claims;
  if (verified === undefined && !trustEmail) throw new DomainError('sso-email-unstated');
  if (verified === false) throw new DomainError('sso-email-unverified');
  return email;
}

async function createProviderUser(
  tx: Transaction,
  by: ChangeContext,
  provider: IdentityProvider,
  email: string,
  name: string | undefined,
): Promise<LinkedAccount> {
  const created = await createUser(tx, by, {
    email,
    organization: provider.organization,
    name: usableName(name),
  }).catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
    // A concurrent sign-in created it.
    if (error.kind === 'conflict') throw new StorageError('conflict', error.message, { cause: error });
    throw new DomainError('sso-email-invalid');
  });
  return {
    id: created.id,
    organization_id: provider.organizationId,
    admin: 0,
    accepted_at: null,
    banned_at: null,
  };
}

async function linkIdentity(
  tx: Transaction,
  by: ChangeContext,
  userId: number,
  { organizationId }: IdentityProvider,
  { issuer, subject, email }: VerifiedIdentity,
): Promise<void> {
  const linked = await tx
    .insertInto('identities')
    .values({ organization_id: organizationId, issuer, subject, user_id: userId, created_at: by.now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  if (linked === undefined)
    throw new StorageError('conflict', 'Someone else links this identity at the same time.');
  await recordEvent(tx, by, {
    action: 'identity.link',
    object: ['user', userId],
    organizationId,
    before: null,
    after: { issuer, subject, email: email?.email },
  });
}

/** Signing in through the provider accepts a pending invitation. */
async function acceptInvitationOf(tx: Transaction, by: ChangeContext, account: LinkedAccount): Promise<void> {
  if (account.accepted_at !== null) return;
  await tx
    .updateTable('users')
    .set((eb) => ({ accepted_at: by.now, version: eb('version', '+', 1) }))
    .where('id', '=', account.id)
    .where('accepted_at', 'is', null)
    .execute();
  await recordEvent(tx, by, {
    action: 'user.accept-invitation',
    object: ['user', account.id],
    organizationId: account.organization_id,
    before: { accepted: false },
    after: { accepted: true, method: 'sso' },
  });
}

/** @returns the subjects of an account at an issuer */
async function subjectsOf(db: ReadConnection, userId: number, issuer: string): Promise<string[]> {
  const rows = await db
    .selectFrom('identities')
    .select('subject')
    .where('user_id', '=', userId)
    .where('issuer', '=', issuer)
    .execute();
  return rows.map(({ subject }) => subject);
}

/** @returns the name if it is valid */
function usableName(name: string | undefined): string | undefined {
  const text = replaceHiddenCharacters(name?.slice(0, 4 * MAX_NAME_LENGTH) ?? '').trim();
  return validateUserName('name', text) === undefined ? text : undefined;
}

/** The error for banned users, also for those whom the ban deleted, so that the two look the same. */
function accountUnavailable(): DomainError {
  return new DomainError('sso-account-closed');
}
