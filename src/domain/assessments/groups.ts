import { sql } from 'kysely';
import type { Transaction } from '../../db/engine.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';

export const GROUP_ROLES = [
  'rbac_group_admin',
  'assessment_member',
  'assessment_creator',
  'assessment_read_only',
  'assessment_operator',
  'infra_admin',
] as const;
export type GroupRole = (typeof GROUP_ROLES)[number];

const incrementCount = preparePipelined<{ group: number; role: string; added: number }>((tx, p) =>
  tx
    .insertInto('assessment_group_member_counts')
    .values({ group_id: p.group, role: p.role, members: p.added })
    .onConflict((conflict) =>
      conflict
        .columns(['group_id', 'role'])
        .doUpdateSet({ members: sql<number>`assessment_group_member_counts.members + excluded.members` }),
    ),
);

const decrementCount = preparePipelined<{ group: number; role: string; removed: number }>((tx, p) =>
  tx
    .updateTable('assessment_group_member_counts')
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
    .deleteFrom('assessment_group_members')
    .where('user_id', '=', userId)
    .returning(['group_id', 'role'])
    .execute();
  for (const { group_id, role } of left.sort((a, b) => a.group_id - b.group_id)) {
    await decrementMemberCounts(tx, group_id, [role]);
  }
  return left;
}
