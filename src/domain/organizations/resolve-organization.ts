import { belongsTo, type Caller } from '../../auth/callers.ts';
import type { Reader } from '../../db/engine.ts';
import { invalid } from '../shared/errors.ts';
import { type Organization, organizationById, organizationByUid } from './organizations.ts';

/** The organization that somebody names who creates something in one, by either; faults tell it as `organization`. */
export interface OrganizationChoice {
  id?: number | undefined;
  uid?: string | undefined;
}

/**
 * The organization in which something is created: staff name it, everyone else has one (docs/companions.md, section 1).
 * @throws Failure `invalid` when staff name none, for one that the caller does not belong to, and for an unknown one
 */
export async function organizationToCreateIn(
  db: Reader,
  caller: Caller,
  { id, uid }: OrganizationChoice,
): Promise<Organization> {
  const property = 'organization';
  const named = id ?? uid;
  if (named === undefined && caller.organizationId === null)
    throw invalid({ property, message: 'is required' });
  const found =
    uid === undefined
      ? await organizationById(db, id ?? caller.organizationId ?? 0)
      : await organizationByUid(db, uid);
  if (found === undefined || !belongsTo(caller, found.id) || (id !== undefined && found.id !== id))
    throw invalid({ property, message: 'is not an organization that you can reach', value: named });
  return found;
}
