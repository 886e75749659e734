import { isMemberOf, type Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/engine.ts';
import { invalidInput } from '../shared/errors.ts';
import { type Organization, organizationById, organizationByUid } from './organizations.ts';

/** The organization that somebody names who creates something in one, by either; faults tell it as `organization`. */
export interface OrganizationSelector {
  id?: number | undefined;
  uid?: string | undefined;
}

/**
 * The organization in which something is created: staff name it, everyone else has one (docs/companions.md, section 1).
 * @throws Failure `invalid` when staff name none, for one that the caller does not belong to, and for an unknown one
 */
export async function resolveTargetOrganization(
  db: ReadConnection,
  caller: Caller,
  { id, uid }: OrganizationSelector,
): Promise<Organization> {
  const property = 'organization';
  const named = id ?? uid;
  if (named === undefined && caller.organizationId === null)
    throw invalidInput({ property, code: 'required' });
  const found =
    uid === undefined
      ? await organizationById(db, id ?? caller.organizationId ?? 0)
      : await organizationByUid(db, uid);
  if (found === undefined || !isMemberOf(caller, found.id) || (id !== undefined && found.id !== id))
    throw invalidInput({ property, code: 'inaccessible-organization', value: named });
  return found;
}
