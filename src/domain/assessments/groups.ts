import { sql } from 'kysely';
import type { Attribution } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { invalidInput, notFound } from '../shared/errors.ts';
import { normalizeForSearch } from '../lists/filters.ts';
import { requireName } from '../shared/names.ts';
import { organizationByUid } from '../organizations/organizations.ts';

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
  act: Attribution,
  input: { organization: string; name: string },
): Promise<{ id: number }> {
  const name = requireName('name', input.name);
  const organization = await organizationByUid(tx, input.organization);
  if (organization === undefined) {
    throw invalidInput({
      property: 'organization',
      message: 'is not the uid of an organization',
      value: input.organization,
    });
  }
  return insertGroup(tx, act, { organizationId: organization.id, name, description: '' });
}

/** Makes an assessment group in an organization that the caller of this knows; the name is clean. */
export async function insertGroup(
  tx: Transaction,
  act: Attribution,
  { organizationId, name, description }: { organizationId: number; name: string; description: string },
): Promise<{ id: number }> {
  const group = await tx
    .insertInto('assessment_groups')
    .values({
      organization_id: organizationId,
      name,
      name_key: normalizeForSearch(name),
      description,
      created_at: act.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await recordEvent(tx, act, {
    action: 'assessment-group.create',
    object: ['assessment-group', group.id],
    organizationId,
    before: null,
    after: { name, description },
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
  act: Attribution,
  input: { groupId: number; userUid: string; role: GroupRole },
): Promise<boolean> {
  const { groupId, userUid, role } = input;
  const found = await tx
    .selectFrom('assessment_groups')
    .innerJoin('users', 'users.organization_id', 'assessment_groups.organization_id')
    .select(['assessment_groups.organization_id', 'users.id as user_id'])
    .where('assessment_groups.id', '=', groupId)
    .where('users.uid', '=', userUid)
    .executeTakeFirst();
  if (found === undefined) throw notFound('assessment group or the user');
  const added = await tx
    .insertInto('group_members')
    .values({
      organization_id: found.organization_id,
      group_id: groupId,
      user_id: found.user_id,
      user_uid: userUid,
      role,
      created_at: act.now,
    })
    .onConflict((conflict) => conflict.columns(['group_id', 'user_uid']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added === undefined) return false;
  await incrementMemberCounts(tx, groupId, [role]);
  await recordEvent(tx, act, {
    action: 'assessment-group.add-member',
    object: ['assessment-group', groupId],
    organizationId: found.organization_id,
    before: null,
    after: { user: userUid, role },
  });
  return true;
}

const incrementCount = preparePipelined<{ group: number; role: string; added: number }>((tx, p) =>
  tx
    .insertInto('group_member_counts')
    .values({ group_id: p.group, role: p.role, members: p.added })
    .onConflict((conflict) =>
      conflict
        .columns(['group_id', 'role'])
        .doUpdateSet({ members: sql<number>`group_member_counts.members + excluded.members` }),
    ),
);

const decrementCount = preparePipelined<{ group: number; role: string; removed: number }>((tx, p) =>
  tx
    .updateTable('group_member_counts')
    .set({ members: sql<number>`members - ${p.removed}` })
    .where('group_id', '=', p.group)
    .where('role', '=', p.role),
);

/** Counts members of these roles, in the unit of work that adds them and after it has. */
export async function incrementMemberCounts(
  tx: Transaction,
  groupId: number,
  roles: readonly string[],
): Promise<void> {
  for (const [role, added] of countByRole(roles)) await incrementCount(tx, { group: groupId, role, added });
}

/** @returns how often each role is there, in one order everywhere, so that two units of work do not wait for each other's rows */
function countByRole(roles: readonly string[]): [role: string, amount: number][] {
  const amounts = new Map<string, number>();
  for (const role of [...roles].sort()) amounts.set(role, (amounts.get(role) ?? 0) + 1);
  return [...amounts];
}

/**
 * Keeps the number of members by role, so that a page of a large group need not count it. To be called in every unit
 * of work that removes members, after it has.
 * @param roles the role of each member that was removed from the group
 */
export async function decrementMemberCounts(
  tx: Transaction,
  groupId: number,
  roles: readonly string[],
): Promise<void> {
  for (const [role, removed] of countByRole(roles))
    await decrementCount(tx, { group: groupId, role, removed });
}

/**
 * Takes a user out of every group, for a user who is about to be deleted.
 * @returns the groups and the roles that the user had there
 */
export async function removeFromAllGroups(
  tx: Transaction,
  userId: number,
): Promise<{ group_id: number; role: string }[]> {
  const left = await tx
    .deleteFrom('group_members')
    .where('user_id', '=', userId)
    .returning(['group_id', 'role'])
    .execute();
  for (const { group_id, role } of left.sort((a, b) => a.group_id - b.group_id)) {
    await decrementMemberCounts(tx, group_id, [role]);
  }
  return left;
}
