import type { Actor } from '../auth/callers.ts';
import type { Transaction } from '../db/engine.ts';
import { recordChange } from './audit.ts';
import { invalid, missing } from './failure.ts';
import { cleanName } from './names.ts';
import { organizationByUid } from './organizations.ts';

export const GROUP_ROLES = [
  'rbac_group_admin',
  'assessment_member',
  'assessment_creator',
  'assessment_read_only',
  'assessment_operator',
  'infra_admin',
] as const;
export type GroupRole = (typeof GROUP_ROLES)[number];

/**
 * Creates an assessment group, empty.
 * @throws Failure `invalid` for an unknown organization or a bad name
 */
export async function createAssessmentGroup(
  tx: Transaction,
  actor: Actor,
  input: { organization: string; name: string },
  now: number,
): Promise<{ id: number }> {
  const name = cleanName('name', input.name);
  const organization = await organizationByUid(tx, input.organization);
  if (organization === undefined) {
    throw invalid({
      property: 'organization',
      message: 'is not the uid of an organization',
      value: input.organization,
    });
  }
  const group = await tx
    .insertInto('assessment_groups')
    .values({ organization_id: organization.id, name, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow();
  await recordChange(tx, actor, {
    at: now,
    action: 'assessment-group.create',
    object: ['assessment-group', group.id],
    organizationId: organization.id,
    before: null,
    after: { name },
  });
  return group;
}

/**
 * Makes a user of the group's organization a member; who is one already keeps their role.
 * @returns whether they were added
 * @throws Failure `missing` when the group or the user is not there or they are of different organizations
 */
export async function addGroupMember(
  tx: Transaction,
  actor: Actor,
  input: { groupId: number; userUid: string; role: GroupRole },
  now: number,
): Promise<boolean> {
  const { groupId, userUid, role } = input;
  const found = await tx
    .selectFrom('assessment_groups')
    .innerJoin('users', 'users.organization_id', 'assessment_groups.organization_id')
    .select('assessment_groups.organization_id')
    .where('assessment_groups.id', '=', groupId)
    .where('users.uid', '=', userUid)
    .executeTakeFirst();
  if (found === undefined) throw missing('assessment group or the user');
  const added = await tx
    .insertInto('group_members')
    .values({ group_id: groupId, user_uid: userUid, role, created_at: now })
    .onConflict((conflict) => conflict.columns(['group_id', 'user_uid']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added === undefined) return false;
  await countMembers(tx, groupId, role, 1);
  await recordChange(tx, actor, {
    at: now,
    action: 'assessment-group.add-member',
    object: ['assessment-group', groupId],
    organizationId: found.organization_id,
    before: null,
    after: { user: userUid, role },
  });
  return true;
}

/** Keeps the number of members by role, so that a page of a large group need not count it. */
async function countMembers(tx: Transaction, groupId: number, role: string, change: number): Promise<void> {
  await tx
    .insertInto('group_member_counts')
    .values({ group_id: groupId, role, members: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await tx
    .updateTable('group_member_counts')
    .set((eb) => ({ members: eb('members', '+', change) }))
    .where('group_id', '=', groupId)
    .where('role', '=', role)
    .execute();
}
