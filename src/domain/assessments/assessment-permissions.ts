import { isAdminOf, type Caller } from '../../auth/callers.ts';
import { hasPermission, type GroupRole, type Permission } from '../../auth/roles.ts';
import type { ReadConnection } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { DomainError, invalidInput } from '../shared/errors.ts';
import { type CallerRoles, isPermitted, permissionError, requirePermission } from '../shared/permissions.ts';
import type { DraftPolicy } from './assessments.ts';

/** `role` is `null` unless the caller is a member. */
const selectGroupForCaller = prepareQuery((db, p: { group: number; caller: number }) =>
  db
    .selectFrom('assessment_groups')
    .leftJoin('assessment_group_members', (join) =>
      join
        .onRef('assessment_group_members.group_id', '=', 'assessment_groups.id')
        .on('assessment_group_members.user_id', '=', p.caller),
    )
    .select(['assessment_groups.organization_id', 'assessment_group_members.role'])
    .where('assessment_groups.id', '=', p.group),
);

/**
 * @throws DomainError `invalid` for a group that is invisible or of another organization, `forbidden` unless the
 *   caller can create assessments in it
 */
export async function requireCanCreate(
  db: ReadConnection,
  caller: Caller,
  organizationId: number,
  groupId: number,
): Promise<void> {
  await requireGroupPermission(db, caller, organizationId, groupId, 'create_assessments');
}

async function requireGroupPermission(
  db: ReadConnection,
  caller: Caller,
  organizationId: number,
  groupId: number,
  permission: Permission,
): Promise<void> {
  const [group] = Number.isSafeInteger(groupId)
    ? await selectGroupForCaller(db, { group: groupId, caller: caller.userId ?? -1 })
    : [];
  const isAdmin = isAdminOf(caller, organizationId);
  if (group === undefined || group.organization_id !== organizationId || (!isAdmin && group.role === null))
    throw invalidInput({ property: 'groupId', code: 'unknown-assessment-group', value: groupId });
  if (!isAdmin && !hasPermission([group.role as GroupRole], permission)) throw permissionError(permission);
}

/** @throws DomainError `forbidden` if the caller is not staff and would change the `drafts` setting */
export function requireDraftPolicyRight(
  { staff }: Caller,
  before: DraftPolicy,
  after: DraftPolicy = before,
): void {
  if (!staff && after !== before) throw new DomainError('draft-policy-staff-only');
}

type EditedAssessment = CallerRoles & {
  organization_id: number;
  created_by: number | null;
};

/** @returns whether the caller's role permits changing the assessment (operation 39) */
export function canEdit(caller: Caller, assessment: EditedAssessment): boolean {
  const { organization_id: organizationId, created_by: createdBy } = assessment;
  const isCreator = createdBy !== null && createdBy === caller.userId;
  return (
    isPermitted(caller, organizationId, assessment, 'edit_assessments') ||
    (isCreator && isPermitted(caller, organizationId, assessment, 'edit_own_assessments'))
  );
}

/**
 * Checks that the caller may move an assessment, from the group that it is in and to another one.
 * @param groupId `null` for none
 * @throws DomainError `invalid` for a group that is invisible or of another organization, `forbidden` without the role
 *   in either group
 */
export async function requireCanMove(
  db: ReadConnection,
  caller: Caller,
  {
    organization_id: organizationId,
    group_id: from,
    roleByGroup,
  }: EditedAssessment & { group_id: number | null },
  groupId: number | null,
): Promise<void> {
  if (groupId !== null) await requireGroupPermission(db, caller, organizationId, groupId, 'move_assessments');
  if (from !== null)
    requirePermission(caller, organizationId, { roleByGroup, roleByName: null }, 'move_assessments');
}
