import type { ChangeContext } from '../../auth/callers.ts';
import { emailHost } from '../../auth/email-addresses.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, invalidInput, notFound } from '../shared/errors.ts';
import {
  normalizeDomain,
  type ProviderSettings,
  validateProviderSettings,
} from './identity-provider-settings.ts';
import { findOrganization } from '../organizations/organizations.ts';
import { endSessionIfAny } from './end-sessions.ts';
import { SSO_METHOD } from '../users/sign-in-eligibility.ts';

export interface IdentityProvider extends Omit<ProviderSettings, 'domains' | 'groups'> {
  organizationId: number;
  organization: string;
  organizationName: string;
}

const selectProviders = (db: ReadConnection) =>
  db
    .selectFrom('identity_providers as provider')
    .innerJoin('organizations', 'organizations.id', 'provider.organization_id')
    .select([
      'provider.organization_id',
      'organizations.uid',
      'organizations.name',
      'provider.issuer',
      'provider.client_id',
      'provider.sealed_secret',
      'provider.groups_claim',
      'provider.admin_group',
      'provider.sso_only',
      'provider.trust_email',
    ]);

const selectByDomain = prepareQuery((db, p: { domain: string }) =>
  selectProviders(db)
    .innerJoin('identity_provider_domains as domain', 'domain.organization_id', 'provider.organization_id')
    .where('domain.domain', '=', p.domain),
);

const selectByOrganization = prepareQuery((db, p: { organization: string }) =>
  selectProviders(db).where('organizations.uid', '=', p.organization),
);

export async function hasIdentityProviders(db: ReadConnection): Promise<boolean> {
  return (await db.selectFrom('identity_providers').select('organization_id').limit(1).execute()).length > 0;
}

/** @returns the provider for users with this email address */
export async function providerByEmail(
  db: ReadConnection,
  email: string,
): Promise<IdentityProvider | undefined> {
  const [row] = await selectByDomain(db, { domain: emailHost(email) });
  return row && fromRow(row);
}

/** @returns the provider of the organization with this uid */
export async function providerByOrganization(
  db: ReadConnection,
  organization: string,
): Promise<IdentityProvider | undefined> {
  const [row] = await selectByOrganization(db, { organization });
  return row && fromRow(row);
}

/**
 * Sets or replaces the provider of an organization. If it disables passwords, sessions that started without it end.
 * @param organization its uid
 * @throws DomainError `not-found` for the organization; `invalid` for a domain, issuer, group or assessment; `conflict`
 *   for a domain of another organization
 */
export async function setIdentityProvider(
  tx: Transaction,
  by: ChangeContext,
  organization: string,
  settings: ProviderSettings,
): Promise<void> {
  const { id } = await requireOrganization(tx, organization);
  const { issuer, clientId, encryptedSecret, groupsClaim, adminGroup } = settings;
  const domains = [...new Set(settings.domains.map((domain) => normalizeDomain(domain)))];
  const fieldErrors = validateProviderSettings(settings, domains);
  if (fieldErrors.length > 0) throw invalidInput(fieldErrors);
  const assessments = await assessmentsOf(tx, id, settings.groups);
  const before = await readProviderDetails(tx, organization);

  const row = {
    issuer,
    client_id: clientId,
    sealed_secret: encryptedSecret,
    groups_claim: groupsClaim,
    admin_group: adminGroup,
    sso_only: settings.ssoOnly ? 1 : 0,
    trust_email: settings.trustEmail ? 1 : 0,
  };
  await tx
    .insertInto('identity_providers')
    .values({ organization_id: id, created_at: by.now, ...row })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(row))
    .execute();
  await tx.deleteFrom('identity_provider_domains').where('organization_id', '=', id).execute();
  for (const domain of domains) {
    const added = await tx
      .insertInto('identity_provider_domains')
      .values({ domain, organization_id: id })
      .onConflict((conflict) => conflict.doNothing())
      .returning('domain')
      .executeTakeFirst();
    if (added === undefined) throw new DomainError('domain-taken', { domain });
  }
  await tx.deleteFrom('identity_provider_groups').where('organization_id', '=', id).execute();
  for (const [index, { group }] of settings.groups.entries()) {
    await tx
      .insertInto('identity_provider_groups')
      .values({ organization_id: id, group_name: group, assessment_id: assessments[index] ?? 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  await recordEvent(tx, by, {
    action: 'identity-provider.set',
    object: ['identity-provider', organization],
    organizationId: id,
    before,
    after: await readProviderDetails(tx, organization),
  });
  if (settings.ssoOnly) await endNonSsoSessions(tx, by, id);
}

async function endNonSsoSessions(tx: Transaction, by: ChangeContext, organizationId: number): Promise<void> {
  const sessions = await tx
    .selectFrom('users')
    .innerJoin('sessions', 'sessions.user_id', 'users.id')
    .select(['sessions.id', 'sessions.user_id as userId'])
    .where('users.organization_id', '=', organizationId)
    .where('sessions.method', '<>', SSO_METHOD)
    .execute();
  for (const { id, userId } of sessions) await endSessionIfAny(tx, by, { userId, organizationId }, id);
}

/**
 * Removes the provider. Accounts remain, and users with a password sign in with it.
 * @throws DomainError `not-found` when the organization has none
 */
export async function removeIdentityProvider(
  tx: Transaction,
  by: ChangeContext,
  organization: string,
): Promise<void> {
  const { id } = await requireOrganization(tx, organization);
  const before = await readProviderDetails(tx, organization);
  if (before === null) throw notFound('identity provider');
  await tx.deleteFrom('identity_providers').where('organization_id', '=', id).execute();
  await recordEvent(tx, by, {
    action: 'identity-provider.remove',
    object: ['identity-provider', organization],
    organizationId: id,
    before,
    after: null,
  });
}

/** A provider with its domains and groups, but without its secret. */
export interface ListedProvider extends Omit<ProviderSettings, 'encryptedSecret'> {
  organization: string;
  /** Whether it has a secret. */
  confidential: boolean;
}

/** @returns the providers of all organizations, or of the organization with this uid */
export async function listIdentityProviders(
  db: ReadConnection,
  organization?: string,
): Promise<ListedProvider[]> {
  let query = selectProviders(db).orderBy('organizations.uid');
  if (organization !== undefined) query = query.where('organizations.uid', '=', organization);
  return Promise.all(
    (await query.execute()).map(async (row) => {
      const { organizationName: _name, organizationId, encryptedSecret, ...provider } = fromRow(row);
      const domains = await domainsOf(db, organizationId);
      const groups = await db
        .selectFrom('identity_provider_groups')
        .innerJoin('assessments', 'assessments.id', 'identity_provider_groups.assessment_id')
        .select(['identity_provider_groups.group_name as group', 'assessments.uid as assessment'])
        .where('identity_provider_groups.organization_id', '=', organizationId)
        .orderBy('group_name')
        .orderBy('assessments.uid')
        .execute();
      return { ...provider, confidential: encryptedSecret !== null, domains, groups };
    }),
  );
}

/** @returns the domains of an organization, sorted */
export async function domainsOf(db: ReadConnection, organizationId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('identity_provider_domains')
    .select('domain')
    .where('organization_id', '=', organizationId)
    .orderBy('domain')
    .execute();
  return rows.map(({ domain }) => domain);
}

/** @returns the ids of the assessments that groups map to, in their order */
async function assessmentsOf(
  tx: Transaction,
  organizationId: number,
  groups: ProviderSettings['groups'],
): Promise<number[]> {
  const ids: number[] = [];
  for (const [index, { assessment }] of groups.entries()) {
    const row = await tx
      .selectFrom('assessments')
      .select('id')
      .where('uid', '=', assessment)
      .where('organization_id', '=', organizationId)
      .executeTakeFirst();
    if (row === undefined) {
      throw invalidInput({
        property: `groups.${index}.assessment`,
        code: 'unknown-assessment',
        value: assessment,
      });
    }
    ids.push(row.id);
  }
  return ids;
}

async function requireOrganization(db: ReadConnection, uid: string): Promise<{ id: number }> {
  const organization = await findOrganization(db, { uid });
  if (organization === undefined) throw notFound(`organization ${uid}`);
  return organization;
}

/** @returns the details of an organization's provider for the audit log */
async function readProviderDetails(db: ReadConnection, organization: string): Promise<object | null> {
  const [provider] = await listIdentityProviders(db, organization);
  return provider === undefined ? null : providerDetails(provider);
}

/** @returns the details of a provider as the command line and the audit log show them */
export function providerDetails(provider: ListedProvider): object {
  return {
    issuer: provider.issuer,
    client_id: provider.clientId,
    confidential: provider.confidential,
    domains: provider.domains,
    groups_claim: provider.groupsClaim,
    admin_group: provider.adminGroup,
    groups: provider.groups,
    sso_only: provider.ssoOnly,
    trust_email: provider.trustEmail,
  };
}

function fromRow(row: Awaited<ReturnType<typeof selectByOrganization>>[number]): IdentityProvider {
  return {
    organizationId: row.organization_id,
    organization: row.uid,
    organizationName: row.name,
    issuer: row.issuer,
    clientId: row.client_id,
    encryptedSecret: row.sealed_secret,
    groupsClaim: row.groups_claim,
    adminGroup: row.admin_group,
    ssoOnly: row.sso_only === 1,
    trustEmail: row.trust_email === 1,
  };
}
