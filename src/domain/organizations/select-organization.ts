import { isMemberOf, type Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { invalidInput } from '../shared/errors.ts';
import { type Organization, findOrganization } from './organizations.ts';

/** Selects an organization by uid or id. Errors name the property `organization`. */
export interface OrganizationSelector {
  id?: number | undefined;
  uid?: string | undefined;
}

/**
 * Resolves the organization in which something is created: staff have to select one, other users have one.
 * @throws DomainError `invalid` when staff select none, and for an organization that does not exist or that the caller
 *   cannot access
 */
export async function selectOrganization(
  db: ReadConnection,
  caller: Caller,
  { id, uid }: OrganizationSelector,
): Promise<Organization> {
  const property = 'organization';
  const selector = id ?? uid;
  if (selector === undefined && caller.organizationId === null)
    throw invalidInput({ property, code: 'required' });
  const match =
    uid === undefined
      ? await findOrganization(db, { id: id ?? caller.organizationId ?? 0 })
      : await findOrganization(db, { uid });
  if (match === undefined || !isMemberOf(caller, match.id) || (id !== undefined && match.id !== id))
    throw invalidInput({ property, code: 'inaccessible-organization', value: selector });
  return match;
}
