import { type ChangeContext, isAdminOf, type Caller } from '../../auth/callers.ts';
import { type Transaction, StorageError } from '../../db/database.ts';
import { inList, forKeyShare, forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, type FieldError, invalidInput } from '../shared/errors.ts';
import {
  GROUP_ADMIN,
  type GroupForCaller,
  findGroupForCaller,
  canChangeMembers,
} from './list-group-members.ts';
import { GROUP_ROLES, type GroupRole } from '../../auth/roles.ts';
import { incrementMemberCounts, decrementMemberCounts } from './groups.ts';
import { adminCount, REMOVAL_ERRORS, notInOrganizationError } from './remove-group-members.ts';
import { lockRows } from '../shared/lock-rows.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';

export const ADDITION_STATUSES = ['added', 'noop', 'error'] as const;
export const ADDITION_ERRORS = [...REMOVAL_ERRORS, 'role_invalid', 'role_not_assignable'] as const;

/** `role` is any string. */
export interface NewMember {
  userUid: string;
  role: string;
}

/** The membership, or an error. */
export interface AdditionResult {
  userUid: string;
  status: (typeof ADDITION_STATUSES)[number];
  role?: GroupRole;
  /** The id of the membership; absent for an error. */
  id?: number;
  errorCode?: (typeof ADDITION_ERRORS)[number];
  errorDetail?: string;
}

interface Target {
  id: number;
  uid: string;
  organizationId: number | null;
  membership: number | null;
  role: GroupRole | null;
}

/** Locks users before the group, as a ban locks a user and then their groups. */
const lockUsers = preparePipelined<{ organization: number; uids: readonly string[] }>((tx, p) =>
  tx
    .selectFrom('users')
    .select('id')
    .where('organization_id', '=', p.organization)
    .where((eb) => inList(tx, eb.ref('uid'), p.uids))
    .orderBy('id')
    .modifyEnd(forKeyShare(tx)),
);

interface MemberAddition {
  result: AdditionResult;
  target: Target;
  role: GroupRole;
}

/**
 * Adds users to an assessment group, or changes the roles of members (operation 47). Each user has a result; the
 * last `rbac_group_admin` keeps the role.
 * @returns results in the order of `members`
 * @throws DomainError `invalid` for a repeated user, `not-found` for the group, `forbidden`
 */
export async function addGroupMembers(
  tx: Transaction,
  by: ChangeContext<Caller>,
  groupId: number,
  members: readonly NewMember[],
): Promise<AdditionResult[]> {
  const { actor: caller } = by;
  rejectDuplicates(members);
  const group = await findGroupForCaller(tx, caller, groupId);
  if (!canChangeMembers(caller, group, 'add_members')) {
    throw new DomainError('group-members-add');
  }
  await lockUsers(tx, { organization: group.organizationId, uids: members.map(({ userUid }) => userUid) });
  await lockRows(tx, 'assessment_groups', [groupId], forNoKeyUpdate);
  const [[admins], targets] = await Promise.all([
    adminCount(tx, { group: groupId }),
    findTargets(tx, groupId, members),
  ]);
  const giveable = assignableRoles(caller, group);
  let adminsLeft = admins?.members ?? 0;
  const additions: MemberAddition[] = [];
  const results = members.map(({ userUid, role }): AdditionResult => {
    const target = targets.get(userUid);
    const error = findAdditionError(caller, group, giveable, target, role);
    if (error !== undefined || target === undefined) return { userUid, status: 'error', ...error };
    const [requestedRole, membership] = [role as GroupRole, target.membership];
    if (target.role === requestedRole && membership !== null)
      return { userUid, status: 'noop', role: requestedRole, id: membership };
    if (target.role === GROUP_ADMIN && adminsLeft <= 1)
      return { userUid, status: 'error', ...LAST_ADMIN_ERROR };
    adminsLeft += Number(requestedRole === GROUP_ADMIN) - Number(target.role === GROUP_ADMIN);
    const result: AdditionResult = { userUid, status: 'added', role: requestedRole };
    additions.push({ result, target, role: requestedRole });
    return result;
  });
  if (additions.length === 0) return results;
  const replaced = additions.filter(({ target }) => target.membership !== null);
  await insertMembers(
    tx,
    by,
    { groupId, organizationId: group.organizationId },
    additions.filter(({ target }) => target.membership === null),
  );
  await changeRoles(tx, replaced);
  await decrementMemberCounts(
    tx,
    groupId,
    additions.flatMap(({ target }) => target.role ?? []),
  );
  await incrementMemberCounts(
    tx,
    groupId,
    additions.map((addition) => addition.role),
  );
  await recordEvent(tx, by, {
    action: 'assessment-group.add-members',
    object: ['assessment-group', groupId],
    organizationId: group.organizationId,
    before:
      replaced.length === 0
        ? null
        : { members: replaced.map(({ target }) => ({ user: target.uid, role: target.role })) },
    after: { members: additions.map(({ target, role }) => ({ user: target.uid, role })) },
  });
  return results;
}

function rejectDuplicates(members: readonly NewMember[]): void {
  const seenUids = new Set<string>();
  const errors = members.flatMap(({ userUid }, index): FieldError[] => {
    if (!seenUids.has(userUid)) {
      seenUids.add(userUid);
      return [];
    }
    return [{ property: `members.${index}.userUid`, code: 'duplicate', value: userUid }];
  });
  if (errors.length > 0) throw invalidInput(errors);
}

async function findTargets(
  tx: Transaction,
  groupId: number,
  members: readonly NewMember[],
): Promise<ReadonlyMap<string, Target>> {
  const uids = members.map(({ userUid }) => userUid);
  const rows = await tx
    .selectFrom('users')
    .leftJoin('assessment_group_members', (join) =>
      join
        .onRef('assessment_group_members.user_id', '=', 'users.id')
        .on('assessment_group_members.group_id', '=', groupId),
    )
    .select([
      'users.id',
      'users.uid',
      'users.organization_id as organizationId',
      'assessment_group_members.id as membership',
      'assessment_group_members.role',
    ])
    .where(({ ref }) => inList(tx, ref('users.uid'), uids))
    .execute();
  return new Map(rows.map((row) => [row.uid, row]));
}

/** Admins and staff can assign every role, group admins all but `infra_admin`. */
function assignableRoles(caller: Caller, group: GroupForCaller): readonly GroupRole[] {
  return isAdminOf(caller, group.organizationId)
    ? GROUP_ROLES
    : GROUP_ROLES.filter((role) => role !== 'infra_admin');
}

type AdditionError = Pick<AdditionResult, 'errorCode' | 'errorDetail'>;

const LAST_ADMIN_ERROR: AdditionError = {
  errorCode: 'forbidden',
  errorDetail: 'The last rbac_group_admin of a group keeps the role.',
};

/** Returns why the user cannot get the role, if anything. Does not check for the last `rbac_group_admin`. */
function findAdditionError(
  caller: Caller,
  group: GroupForCaller,
  giveable: readonly string[],
  target: Target | undefined,
  role: string,
): AdditionError | undefined {
  if (!(GROUP_ROLES as readonly string[]).includes(role))
    return { errorCode: 'role_invalid', errorDetail: `A role is one of ${GROUP_ROLES.join(', ')}.` };
  if (target === undefined || target.organizationId !== group.organizationId)
    return notInOrganizationError(caller, target);
  if (!giveable.includes(role))
    return { errorCode: 'role_not_assignable', errorDetail: `You can't assign the role ${role}.` };
  if (target.role !== null && !giveable.includes(target.role))
    return {
      errorCode: 'role_not_assignable',
      errorDetail: `You may not change who has the role ${target.role}.`,
    };
  return undefined;
}

/**
 * Inserts members and sets the ids of their results.
 * @throws StorageError `conflict` when a user became a member concurrently: the transaction is then retried
 */
async function insertMembers(
  tx: Transaction,
  by: ChangeContext,
  { groupId, organizationId }: { groupId: number; organizationId: number },
  members: readonly MemberAddition[],
): Promise<void> {
  if (members.length === 0) return;
  const rows = await tx
    .insertInto('assessment_group_members')
    .values(
      // In a fixed order, so that concurrent transactions cannot deadlock.
      [...members]
        .sort((one, other) => one.target.id - other.target.id)
        .map(({ target, role }) => ({
          organization_id: organizationId,
          group_id: groupId,
          user_id: target.id,
          user_uid: target.uid,
          role,
          created_at: by.now,
        })),
    )
    .onConflict((conflict) => conflict.columns(['group_id', 'user_uid']).doNothing())
    .returning(['id', 'user_uid'])
    .execute();
  if (rows.length < members.length) throw memberConflict();
  const ids = new Map(rows.map(({ id, user_uid }) => [user_uid, id]));
  for (const { result, target } of members) result.id = ids.get(target.uid) as number;
}

/**
 * Changes roles, one statement per pair of roles, and sets the ids of the results.
 * @throws StorageError `conflict` when a role changed concurrently
 */
async function changeRoles(tx: Transaction, members: readonly MemberAddition[]): Promise<void> {
  const moves = new Map<string, { from: GroupRole; to: GroupRole; ids: number[] }>();
  for (const { result, target, role } of members) {
    if (target.membership === null || target.role === null) continue;
    result.id = target.membership;
    const key = `${target.role} ${role}`;
    const move = moves.get(key) ?? { from: target.role, to: role, ids: [] };
    moves.set(key, move);
    move.ids.push(target.membership);
  }
  for (const [, { from, to, ids }] of [...moves].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const changed = await tx
      .updateTable('assessment_group_members')
      .set({ role: to })
      .where(({ ref }) => inList(tx, ref('id'), ids))
      .where('role', '=', from)
      .returning('id')
      .execute();
    if (changed.length < ids.length) throw memberConflict();
  }
}

function memberConflict(): StorageError {
  return new StorageError('conflict', 'A member was changed at the same time.');
}
