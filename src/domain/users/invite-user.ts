import { type Account, type Attribution, isAdminOf } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { findOrganization } from '../organizations/organizations.ts';
import { DomainError, invalidInput } from '../shared/errors.ts';
import { createUser, type CreatedUser, type NewUser, validateUserFields } from './users.ts';

/**
 * Invites a user: admins into their organization, staff into one that they can access.
 * @param input `organization` is a uid, which staff have to give and admins may
 * @throws DomainError `forbidden` unless the caller is an admin or staff, and as `createUser` does
 */
export async function inviteUser(
  tx: Transaction,
  by: Attribution,
  account: Account,
  input: Pick<NewUser, 'email' | 'name' | 'admin' | 'organization' | 'assessments'>,
): Promise<CreatedUser & { invitedAt: number }> {
  validateUserFields(input);
  if (!account.admin && !account.staff)
    throw new DomainError('forbidden', { code: 'user-invite-admins-only' });
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
  const created = await createUser(tx, by, { ...input, organization: organization.uid });
  return { ...created, invitedAt: by.now };
}
