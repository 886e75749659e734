import { toOptions } from '../../components/filter-definition.ts';
import { GROUP_ROLE_LABELS } from '../../queries/groups.ts';

/** The roles that a user may give to members of a group. Only admins and staff make infrastructure admins. */
export const assignableRoles = (isAdmin: boolean) =>
  toOptions(GROUP_ROLE_LABELS).filter(({ value }) => isAdmin || value !== 'infra_admin');
