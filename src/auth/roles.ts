/** The roles in an assessment, in the order in which operation 40 prefers them. */
export const ROLES = [
  'rbac_group_admin',
  'assessment_operator',
  'assessment_creator',
  'assessment_member',
  'assessment_developer',
  'assessment_read_only',
  'infra_admin',
] as const;
export type Role = (typeof ROLES)[number];

/** The roles of members of a group (operations 12, 13 and 47). They apply to every assessment of the group. */
export const GROUP_ROLES = [
  'rbac_group_admin',
  'assessment_member',
  'assessment_creator',
  'assessment_read_only',
  'assessment_operator',
  'infra_admin',
] as const satisfies readonly Role[];
export type GroupRole = (typeof GROUP_ROLES)[number];

/** The roles that access by name can have (operation 40). */
export const ACCESS_ROLES = [
  'assessment_member',
  'assessment_developer',
  'assessment_read_only',
] as const satisfies readonly Role[];
export type AccessRole = (typeof ACCESS_ROLES)[number];

/** The role of access by name unless another one is requested. */
export const DEFAULT_ACCESS_ROLE: AccessRole = 'assessment_member';

/** Who may dismiss vulnerabilities of an organization, beside admins and staff (operation 64). */
export const DISMISSAL_ROLES = ['assessment_member', 'assessment_operator', 'admin'] as const;
export type DismissalRole = (typeof DISMISSAL_ROLES)[number];

/** Who may dismiss unless the organization says otherwise. */
export const DEFAULT_DISMISSAL_ROLE: DismissalRole = 'assessment_member';

const READ = ['read', 'read_vulnerabilities'] as const;
const MEMBER = [
  ...READ,
  'comment',
  'progress',
  'assign',
  'triage',
  'report',
  'import_hosts',
  'write_assets',
  'edit_tags',
] as const;

/**
 * What each role permits (docs/roles.md). A user has the permissions of all their roles in an assessment; admins of the
 * organization and staff have every permission.
 *
 * - `read`: the assessment, its listing, assets and ports
 * - `read_vulnerabilities`: vulnerabilities with all that belongs to them, and testing hours
 * - `comment`: comments, attachments, requests for retests
 * - `progress`: statuses 1 to 4
 * - `assign`: assignee and due date
 * - `triage`: every status, tags, decisions on retests
 * - `report`: create and edit vulnerabilities, log testing hours, import
 * - `import_hosts`: import the hosts and ports of a report
 * - `write_assets`: assets, their tags, and scope, as far as the scopes of the token allow
 * - `edit_tags`: vulnerability tags of the organization; without a role, users have it too
 * - `create_assessments`: in the group
 * - `edit_own_assessments`, `edit_assessments`: those that the user created, all of the group
 * - `move_assessments`: from the group to another one, or from another one
 * - `remove_members`, `add_members`: of the group
 * - `dismiss_restricted`: statuses 6 to 9 in an organization that keeps them to operators
 */
const ROLE_PERMISSIONS = {
  assessment_read_only: READ,
  assessment_developer: [...READ, 'comment', 'progress', 'assign'],
  assessment_member: MEMBER,
  assessment_creator: [...MEMBER, 'create_assessments', 'edit_own_assessments'],
  assessment_operator: [...MEMBER, 'edit_assessments', 'dismiss_restricted'],
  rbac_group_admin: [
    ...MEMBER,
    'create_assessments',
    'edit_assessments',
    'move_assessments',
    'dismiss_restricted',
    'remove_members',
    'add_members',
  ],
  infra_admin: ['read', 'import_hosts', 'write_assets', 'remove_members'],
} as const satisfies Record<Role, readonly string[]>;

export type Permission = (typeof ROLE_PERMISSIONS)[Role][number];

const rolesByPermission = new Map<Permission, Role[]>();
for (const role of ROLES)
  for (const permission of ROLE_PERMISSIONS[role]) {
    const roles = rolesByPermission.get(permission);
    if (roles === undefined) rolesByPermission.set(permission, [role]);
    else roles.push(role);
  }

/** @returns the roles with a permission */
export function rolesWith(permission: Permission): readonly Role[] {
  return rolesByPermission.get(permission) ?? [];
}

/** @param roles `null` for none */
export function hasPermission(roles: readonly (Role | null)[], permission: Permission): boolean {
  const permitting = rolesWith(permission);
  return roles.some((role) => role !== null && permitting.includes(role));
}
