import { isAdminOf, type Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { DomainError, invalidInput } from '../shared/errors.ts';
import type { GroupRole } from './groups.ts';

const CREATOR_ROLES: readonly GroupRole[] = ['assessment_creator', 'rbac_group_admin'];
const EDITOR_ROLES: readonly GroupRole[] = ['assessment_operator', 'rbac_group_admin'];

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
  const [group] = Number.isSafeInteger(groupId)
    ? await selectGroupForCaller(db, { group: groupId, caller: caller.userId ?? -1 })
    : [];
  const isAdmin = isAdminOf(caller, organizationId);
  if (group === undefined || group.organization_id !== organizationId || (!isAdmin && group.role === null))
    throw invalidInput({ property: 'groupId', code: 'unknown-assessment-group', value: groupId });
  if (!isAdmin && !CREATOR_ROLES.includes(group.role as GroupRole))
    throw new DomainError('assessment-group-assign', { roles: CREATOR_ROLES });
}

/** @throws DomainError `forbidden` unless the caller's role in the group lets them change its assessments */
export async function requireCanEdit(
  db: ReadConnection,
  caller: Caller,
  groupId: number | null,
): Promise<void> {
  const [group] =
    groupId === null ? [] : await selectGroupForCaller(db, { group: groupId, caller: caller.userId ?? -1 });
  if (EDITOR_ROLES.includes(group?.role as GroupRole)) return;
  throw new DomainError('assessment-update', { roles: EDITOR_ROLES });
}
