import { type RawBuilder, sql } from 'kysely';
import { type Caller, isAdminOf, type Principal } from '../../auth/callers.ts';
import {
  type DismissalRole,
  hasPermission,
  type Permission,
  type Role,
  ROLES,
  rolesWith,
} from '../../auth/roles.ts';
import type { ReadConnection } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { DomainError } from './errors.ts';
import {
  type Visibility,
  visibilityOf,
  type VisibilityParameters,
  visibilityParameters,
} from './visibility.ts';

/** The roles that a caller has in an assessment: by name, and as a member of its group. */
export interface CallerRoles {
  roleByName: Role | null;
  roleByGroup: Role | null;
}

/**
 * @param assessmentId the id of an assessment
 * @returns the columns of `CallerRoles`; admins and staff need no role, so that theirs are `null`
 */
export function callerRoles(
  { rules }: Visibility,
  p: VisibilityParameters,
  assessmentId: RawBuilder<unknown>,
) {
  const isLimited = rules.some(({ level }) => level === 'listing');
  const role = (query: RawBuilder<unknown>) => sql<Role | null>`${isLimited ? sql`(${query})` : sql`null`}`;
  return [
    role(sql`select assessment_access.role from assessment_access
      where assessment_access.assessment_id = ${assessmentId} and assessment_access.user_id = ${p.callerId}`).as(
      'roleByName',
    ),
    role(sql`select membership.role from assessments as grouped
      join assessment_group_members as membership on membership.group_id = grouped.group_id
      where grouped.id = ${assessmentId} and membership.user_id = ${p.callerId}`).as('roleByGroup'),
  ] as const;
}

/** @returns the caller's roles in an assessment; admins and staff need none */
export async function loadCallerRoles(
  db: ReadConnection,
  caller: Caller,
  assessmentId: number,
): Promise<CallerRoles> {
  const roles = await db
    .selectFrom('assessments')
    .select(callerRoles(visibilityOf(caller), visibilityParameters(caller), sql.ref('assessments.id')))
    .where('id', '=', assessmentId)
    .executeTakeFirst();
  return roles ?? { roleByName: null, roleByGroup: null };
}

/** Every role of a user in every assessment. */
const selectHeldRoles = prepareQuery((db, p: { user: number }) =>
  db
    .selectFrom('assessment_access')
    .select(['assessment_access.assessment_id as assessment', sql<Role>`assessment_access.role`.as('role')])
    .where('user_id', '=', p.user)
    .unionAll(
      db
        .selectFrom('assessment_group_members as membership')
        .innerJoin('assessments', 'assessments.group_id', 'membership.group_id')
        .select(['assessments.id as assessment', sql<Role>`membership.role`.as('role')])
        .where('membership.user_id', '=', p.user),
    ),
);

/**
 * Reads the caller's roles, to find out later whether they still have all of them.
 * @returns whether they do. Always true for admins and staff, who need none
 */
export async function watchRoles(
  db: ReadConnection,
  { staff, admin, userId }: Pick<Caller, 'staff' | 'admin' | 'userId'>,
): Promise<() => Promise<boolean>> {
  if (staff || admin || userId === null) return () => Promise.resolve(true);
  // As numbers, because a user can have roles in thousands of assessments.
  const readKeys = async () =>
    (await selectHeldRoles(db, { user: userId })).map(
      ({ assessment, role }) => assessment * ROLES.length + ROLES.indexOf(role),
    );
  const held = Float64Array.from(await readKeys());
  return async () => {
    const present = new Set(await readKeys());
    return held.every((key) => present.has(key));
  };
}

/** Each role once, however many assessments a user has it in. */
const selectAllRoles = prepareQuery((db, p: { user: number }) =>
  db
    .selectFrom('assessment_access')
    .select(sql<Role>`assessment_access.role`.as('role'))
    .where('user_id', '=', p.user)
    .union(
      db
        .selectFrom('assessment_group_members')
        .select(sql<Role>`assessment_group_members.role`.as('role'))
        .where('user_id', '=', p.user),
    ),
);

/**
 * Checks a change of something that belongs to the organization and not to an assessment: one role that permits it is
 * enough, wherever the caller has it. Users without any role may do it too.
 * @throws DomainError `forbidden`
 */
export async function requirePermissionAnywhere(
  db: ReadConnection,
  caller: Caller,
  permission: Permission,
): Promise<void> {
  if (caller.staff || caller.admin || caller.userId === null) return;
  const roles = (await selectAllRoles(db, { user: caller.userId })).map(({ role }) => role);
  if (roles.length > 0 && !hasPermission(roles, permission)) throw permissionError(permission);
}

/** @returns whether the caller is an admin of the organization, staff with access to it, or has a permitting role */
export function isPermitted(
  caller: Principal,
  organizationId: number,
  { roleByName, roleByGroup }: CallerRoles,
  permission: Permission,
): boolean {
  return isAdminOf(caller, organizationId) || hasPermission([roleByName, roleByGroup], permission);
}

/** @throws DomainError `forbidden` unless `isPermitted` */
export function requirePermission(
  caller: Principal,
  organizationId: number,
  roles: CallerRoles,
  permission: Permission,
): void {
  if (!isPermitted(caller, organizationId, roles, permission)) throw permissionError(permission);
}

/** @returns whether the caller may dismiss vulnerabilities where an organization has this `dismissal_role` */
export function mayDismiss(
  caller: Principal,
  organizationId: number,
  dismissalRole: DismissalRole,
  roles: CallerRoles,
): boolean {
  if (isAdminOf(caller, organizationId)) return true;
  const permission = dismissalRole === 'assessment_operator' ? 'dismiss_restricted' : 'triage';
  return dismissalRole !== 'admin' && isPermitted(caller, organizationId, roles, permission);
}

/** @returns the error for a right that the roles of the caller do not give */
export function permissionError(permission: Permission): DomainError {
  return new DomainError('role-lacks-permission', { permission, roles: rolesWith(permission) });
}

/** @returns the error for an asset that the caller may read but not change in any of its listings */
export function assetOnlyRead(): DomainError {
  return new DomainError('asset-only-read', { roles: rolesWith('write_assets') });
}

/**
 * @param mark 1 if staff made it
 * @returns whether it is staff's, and the caller is not: others do not change what staff reported, wrote or logged
 */
export function belongsToStaff(caller: Pick<Principal, 'staff'>, mark: number): boolean {
  return mark === 1 && !caller.staff;
}
