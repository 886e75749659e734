import { sql } from 'kysely';
import { type ChangeContext, isMemberOf, type Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { inList, forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError } from '../shared/errors.ts';
import { GROUP_ADMIN, findGroupForCaller, canChangeMembers } from './list-group-members.ts';
import { decrementMemberCounts } from './groups.ts';
import { lockRows } from '../shared/lock-rows.ts';

export const REMOVAL_STATUSES = ['removed', 'noop', 'error'] as const;
export const REMOVAL_ERRORS = ['user_not_found', 'user_not_in_org', 'forbidden', 'internal_error'] as const;

/** docs/decided.md, section 9. */
export interface RemovalResult {
  userUid: string;
  status: (typeof REMOVAL_STATUSES)[number];
  errorCode?: (typeof REMOVAL_ERRORS)[number];
  errorDetail?: string;
}

interface Removal {
  group: number;
  uids: readonly string[];
}

interface Removed {
  user_uid: string;
  role: string;
}

const removeAdmins = prepareWrite<Removal, Removed>((tx, p) => deleteMembers(tx, p, '='));
const removeOthers = prepareWrite<Removal, Removed>((tx, p) => deleteMembers(tx, p, '<>'));

/** Looks members up by user. The outer join forces SQLite to do so: otherwise it scans all members of the group. */
function deleteMembers(tx: Transaction, p: Removal, admins: '=' | '<>') {
  const ids = tx
    .selectFrom('users')
    .leftJoin('assessment_group_members as member', (join) =>
      join
        .onRef('member.user_id', '=', 'users.id')
        .on('member.group_id', '=', p.group)
        .on('member.role', admins, sql.lit(GROUP_ADMIN)),
    )
    .select('member.id')
    .where((eb) => inList(tx, eb.ref('users.uid'), p.uids));
  return tx.deleteFrom('assessment_group_members').where('id', 'in', ids).returning(['user_uid', 'role']);
}

/** The number of a group's admins. Lock the group first: another transaction could remove one. */
export const adminCount = prepareQuery<{ group: number }, { members: number }>((db, p) =>
  db
    .selectFrom('assessment_group_member_counts')
    .select('members')
    .where('group_id', '=', p.group)
    .where('role', '=', sql.lit(GROUP_ADMIN)),
);

interface Target {
  uid: string;
  organizationId: number | null;
  role: string | null;
}

const targetsQuery = prepareQuery<Removal, Target>((db, p) =>
  db
    .selectFrom('users')
    .leftJoin('assessment_group_members', (join) =>
      join
        .onRef('assessment_group_members.user_id', '=', 'users.id')
        .on('assessment_group_members.group_id', '=', p.group),
    )
    .select(['users.uid', 'users.organization_id as organizationId', 'assessment_group_members.role'])
    .where((eb) => inList(db, eb.ref('users.uid'), p.uids)),
);

/**
 * Removes users from an assessment group (operation 13). Each user has a result; the last `rbac_group_admin` stays.
 * @param userUids each once
 * @returns results in the order of `userUids`
 * @throws DomainError `not-found` for the group, `forbidden`
 */
export async function removeGroupMembers(
  tx: Transaction,
  by: ChangeContext<Caller>,
  groupId: number,
  userUids: readonly string[],
): Promise<RemovalResult[]> {
  const { actor: caller } = by;
  const group = await findGroupForCaller(tx, caller, groupId);
  if (!canChangeMembers(caller, group, 'remove_members')) {
    throw new DomainError('group-members-remove');
  }

  const lockGroup = () => lockRows(tx, 'assessment_groups', [groupId], forNoKeyUpdate);
  // A single member is one row, which cannot deadlock: concurrent requests can remove other members of the group.
  const isSingle = userUids.length === 1;
  if (!isSingle) await lockGroup();
  const removed = await removeOthers(tx, { group: groupId, uids: userUids });
  const roles = new Map(removed.map((member) => [member.user_uid, member.role]));
  const remainingUids = userUids.filter((uid) => !roles.has(uid));
  const targets = new Map<string, Target>();
  if (remainingUids.length > 0) {
    if (isSingle) await lockGroup();
    const [[admins], rows] = await Promise.all([
      adminCount(tx, { group: groupId }),
      targetsQuery(tx, { group: groupId, uids: remainingUids }),
    ]);
    for (const target of rows) targets.set(target.uid, target);
    const removable = remainingUids
      .filter((uid) => targets.get(uid)?.role === GROUP_ADMIN)
      .slice(0, Math.max(0, (admins?.members ?? 0) - 1));
    if (removable.length > 0) {
      for (const member of await removeAdmins(tx, { group: groupId, uids: removable }))
        roles.set(member.user_uid, member.role);
    }
  }

  if (roles.size > 0) {
    await decrementMemberCounts(tx, groupId, [...roles.values()]);
    await recordEvent(tx, by, {
      action: 'assessment-group.remove-members',
      object: ['assessment-group', groupId],
      organizationId: group.organizationId,
      before: {
        members: userUids.flatMap((user) => (roles.has(user) ? [{ user, role: roles.get(user) }] : [])),
      },
      after: null,
    });
  }
  return userUids.map((uid) =>
    roles.has(uid)
      ? { userUid: uid, status: 'removed' }
      : { userUid: uid, ...notRemovedResult(caller, group.organizationId, targets.get(uid)) },
  );
}

/** Only staff who can see the other organization learn that a user belongs to one. */
function notRemovedResult(
  caller: Caller,
  organizationId: number,
  target: Target | undefined,
): Omit<RemovalResult, 'userUid'> {
  if (target?.organizationId === organizationId) {
    if (target.role !== GROUP_ADMIN) return { status: 'noop' };
    return {
      status: 'error',
      errorCode: 'forbidden',
      errorDetail: 'The last rbac_group_admin of a group cannot be removed.',
    };
  }
  return { status: 'error', ...notInOrganizationError(caller, target) };
}

/** @returns the error for a user of another organization, or for an unknown user */
export function notInOrganizationError(
  caller: Caller,
  target: { organizationId: number | null } | undefined,
): { errorCode: 'user_not_in_org' | 'user_not_found'; errorDetail: string } {
  return target !== undefined && caller.staff && isMemberOf(caller, target.organizationId)
    ? { errorCode: 'user_not_in_org', errorDetail: "The user is not of the group's organization." }
    : { errorCode: 'user_not_found', errorDetail: 'No user has this uid.' };
}
