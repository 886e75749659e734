import type { GroupRole } from '../../queries/group-members.ts';
import type { GroupSearch } from '../../queries/groups.ts';

const ROLE_NAMES: readonly string[] = [
  'rbac_group_admin',
  'infra_admin',
  'assessment_creator',
  'assessment_operator',
  'assessment_member',
  'assessment_read_only',
] satisfies GroupRole[];

/** Parses the search parameters of the list and ignores invalid ones. */
export function parseGroupSearch({ search, organization_uid }: Record<string, unknown>): GroupSearch {
  const organizations = organization_uid === undefined ? [] : [organization_uid].flat().map(String);
  return {
    ...(typeof search === 'string' && search !== '' ? { search } : {}),
    // The router parses digits as a number.
    ...(typeof search === 'number' ? { search: String(search) } : {}),
    ...(organizations.length === 0 ? {} : { organization_uid: organizations }),
  };
}

/** Parses the search parameters of a group: the role to filter by. */
export function parseGroupRole({ role }: Record<string, unknown>): { role?: GroupRole } {
  return ROLE_NAMES.includes(String(role)) ? { role: role as GroupRole } : {};
}
