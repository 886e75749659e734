import { type Principal, type ChangeContext, isAdminOf } from '../../auth/callers.ts';
import { emailHost, normalizeEmail } from '../../auth/email-addresses.ts';
import type { Transaction } from '../../db/database.ts';
import { requireAssessments } from '../assessments/assessment-access.ts';
import { findOrganization, type Organization } from '../organizations/organizations.ts';
import { recordDiscovery, requireDiscoveriesLeft } from '../audit/discovery-limits.ts';
import { DomainError, invalidInput } from '../shared/errors.ts';
import {
  createUser,
  type CreatedUser,
  emailTakenError,
  type NewUser,
  requireValidUserFields,
} from './users.ts';

type Invited = Pick<NewUser, 'email' | 'name' | 'admin' | 'organization' | 'assessments'>;

/**
 * Invites a user: admins into their organization, staff into one that they can access. The number of taken
 * addresses is limited, as a conflict reveals that another organization has an account.
 * @param input `organization` is a uid, which staff have to give and admins may
 * @returns the user, or the `conflict` for a taken address, whose count the caller has to commit
 * @throws DomainError `forbidden` unless the caller is an admin or staff, `rate-limited` after too many taken
 *   addresses, and as `createUser` does
 */
export async function inviteUser(
  tx: Transaction,
  by: ChangeContext,
  account: Principal,
  input: Invited,
): Promise<(CreatedUser & { invitedAt: number }) | DomainError> {
  const organization = await resolveInvitingOrganization(tx, account, input);
  await requireAssessments(tx, organization.id, input.assessments ?? []);
  const email = input.email.trim();
  const discovery = { kind: 'email', organizationId: organization.id } as const;
  await requireDiscoveriesLeft(tx, by, discovery);
  // Not counted: commands, which can read the database anyway, and users of the organization, whom the caller can list.
  if (by.actor.userId !== null && (await belongsElsewhere(tx, organization, email))) {
    await recordDiscovery(tx, by, discovery, email);
    return emailTakenError(email);
  }
  const created = await createUser(tx, by, { ...input, organization: organization.uid });
  return { ...created, invitedAt: by.now };
}

/** @throws DomainError `forbidden`, `invalid` */
async function resolveInvitingOrganization(
  tx: Transaction,
  account: Principal,
  input: Invited,
): Promise<Organization> {
  requireValidUserFields(input);
  if (!account.admin && !account.staff) throw new DomainError('user-invite-admins-only');
  if (account.staff && input.organization === undefined)
    throw invalidInput({ property: 'organization', code: 'required' });
  const organization = account.staff
    ? await findOrganization(tx, { uid: input.organization ?? '' })
    : await findOrganization(tx, { id: account.organizationId ?? -1 });
  if (
    organization === undefined ||
    !isAdminOf(account, organization.id) ||
    (input.organization ?? organization.uid) !== organization.uid
  )
    throw invalidInput({
      property: 'organization',
      code: 'organization-not-managed',
      value: input.organization,
    });
  return organization;
}

/**
 * Whether an address has an account in another organization or of staff, or the users of its domain sign in through
 * another organization's provider.
 */
async function belongsElsewhere(tx: Transaction, { id }: Organization, email: string): Promise<boolean> {
  const [user, domain] = await Promise.all([
    tx
      .selectFrom('users')
      .select('organization_id')
      .where('normalized_email', '=', normalizeEmail(email))
      .executeTakeFirst(),
    tx
      .selectFrom('identity_provider_domains')
      .select('organization_id')
      .where('domain', '=', emailHost(email))
      .executeTakeFirst(),
  ]);
  const owner = user ?? domain;
  return owner !== undefined && owner.organization_id !== id;
}
