import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';
import { lockRows } from '../shared/lock-rows.ts';
import { forKeyShare, forNoKeyUpdate } from '../../db/dialect-sql.ts';
import {
  inAccessibleOrganization,
  memoizeByVisibility,
  visibilityOf,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';
import { type Caller } from '../../auth/callers.ts';

const lockReferenced = memoizeByVisibility((visibility) =>
  preparePipelined<VisibilityParameters & { id: number }>((tx, p) =>
    tx
      .selectFrom('assessment_groups')
      .select('id')
      .where('id', '=', p.id)
      .where((eb) => inAccessibleOrganization(visibility, eb.ref('organization_id'), p))
      .modifyEnd(forKeyShare(tx)),
  ),
);

/** Locks a group before an assessment that goes into it. Does nothing if the caller cannot see its organization. */
export async function lockReferencedGroup(tx: Transaction, caller: Caller, id: number): Promise<void> {
  await lockReferenced(visibilityOf(caller))(tx, { ...visibilityParameters(caller), id });
}

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

/**
 * Call it in the transaction that adds members, after the insert.
 * @param roles one per added member
 */
export async function incrementMemberCounts(
  tx: Transaction,
  groupId: number,
  roles: readonly string[],
): Promise<void> {
  for (const [role, added] of countByRole(roles)) await incrementCount(tx, { group: groupId, role, added });
}

/** Sorted, so that concurrent transactions cannot deadlock. */
function countByRole(roles: readonly string[]): [role: string, amount: number][] {
  const amounts = new Map<string, number>();
  for (const role of [...roles].sort()) amounts.set(role, (amounts.get(role) ?? 0) + 1);
  return [...amounts];
}

/**
 * Members are counted by role, so that a page of a large group needs no count. Call it in the transaction that
 * removes members, after the delete.
 * @param roles one per removed member
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
 * Removes a user from every group, before the user is deleted.
 * @returns their groups and roles
 */
export async function removeFromAllGroups(
  tx: Transaction,
  userId: number,
): Promise<{ group_id: number; role: string }[]> {
  const groups = await tx
    .selectFrom('assessment_group_members')
    .select('group_id')
    .where('user_id', '=', userId)
    .execute();
  await lockRows(
    tx,
    'assessment_groups',
    groups.map(({ group_id }) => group_id),
    forNoKeyUpdate,
  );
  const memberships = await tx
    .deleteFrom('assessment_group_members')
    .where('user_id', '=', userId)
    .returning(['group_id', 'role'])
    .execute();
  for (const { group_id, role } of memberships.sort((a, b) => a.group_id - b.group_id)) {
    await decrementMemberCounts(tx, group_id, [role]);
  }
  return memberships;
}
