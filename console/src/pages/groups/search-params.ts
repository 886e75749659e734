import { omitUndefined, parseEnum, parseText, parseTexts } from '../../app/search-params.ts';
import { GROUP_ROLES, type GroupRole } from '../../queries/enums.ts';
import type { GroupSearch } from '../../queries/groups.ts';

/** Parses the search parameters of the list and ignores invalid ones. */
export function parseGroupSearch({ search, organization_uid }: Record<string, unknown>): GroupSearch {
  return omitUndefined({ search: parseText(search), organization_uid: parseTexts(organization_uid) });
}

/** Parses the search parameters of a group: the role to filter by. */
export function parseGroupRole({ role }: Record<string, unknown>): { role?: GroupRole } {
  return omitUndefined({ role: parseEnum(role, GROUP_ROLES)?.[0] });
}
