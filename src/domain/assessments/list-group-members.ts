import { isAdminOf, isMemberOf, type Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { GROUP_ROLES, type GroupRole, hasPermission } from '../../auth/roles.ts';
import { memoizeByShape, type PageRequest, readPage, type ReadableRun } from '../lists/reverse-paging.ts';

export const MEMBER_SORT_FIELDS = ['createdAt', 'role', 'userUid'] as const;

export interface MemberQuery extends PageRequest {
  sort: (typeof MEMBER_SORT_FIELDS)[number];
  descending: boolean;
  role?: GroupRole | undefined;
}

export interface GroupMember {
  id: number;
  userUid: string;
  role: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  userEmail: string;
  userName: string | null;
}

export interface GroupMemberPage {
  members: GroupMember[];
  /** The number of members on all pages. */
  total: number;
  canAdd: boolean;
  canRemove: boolean;
}

export const GROUP_ADMIN: GroupRole = 'rbac_group_admin';

interface GroupParameters {
  group: number;
  callerId: number;
}

export interface GroupForCaller {
  organizationId: number;
  /** `null` unless the caller is a member. */
  callerRole: GroupRole | null;
}

const selectGroup = (db: ReadConnection, p: GroupParameters) =>
  db
    .selectFrom('assessment_groups')
    .leftJoin('assessment_group_members', (join) =>
      join
        .onRef('assessment_group_members.group_id', '=', 'assessment_groups.id')
        .on('assessment_group_members.user_id', '=', p.callerId),
    )
    .select([
      'assessment_groups.organization_id as organizationId',
      'assessment_group_members.role as callerRole',
    ])
    .where('assessment_groups.id', '=', p.group);

const groupQuery = prepareQuery<GroupParameters, GroupForCaller>(selectGroup);

/** One row per role with members. */
const countedGroupQuery = prepareQuery<
  GroupParameters,
  GroupForCaller & { role: string | null; members: number | null }
>((db, p) =>
  selectGroup(db, p)
    .leftJoin(
      'assessment_group_member_counts',
      'assessment_group_member_counts.group_id',
      'assessment_groups.id',
    )
    .select([
      'assessment_group_member_counts.role as role',
      'assessment_group_member_counts.members as members',
    ]),
);

/** @throws DomainError `not-found` */
export async function findGroupForCaller(
  db: ReadConnection,
  caller: Caller,
  groupId: number,
): Promise<GroupForCaller> {
  const [group] = await groupQuery(db, { group: storableId(groupId), callerId: caller.userId ?? -1 });
  return requireVisibleGroup(caller, group);
}

function requireVisibleGroup<G extends GroupForCaller>(caller: Caller, group: G | undefined): G {
  if (group === undefined || !isMemberOf(caller, group.organizationId)) throw notFound('assessment group');
  return group;
}

/** @returns whether the caller can add members to the group, or remove them */
export function canChangeMembers(
  caller: Caller,
  group: GroupForCaller,
  permission: 'add_members' | 'remove_members',
): boolean {
  return isAdminOf(caller, group.organizationId) || hasPermission([group.callerRole], permission);
}

/**
 * Reads a page of the members of a group (operation 12). Ties are broken by membership id, ascending.
 * @throws DomainError `not-found` for the group, `forbidden` unless the caller is a member, an admin or staff
 */
export async function listGroupMembers(
  db: ReadConnection,
  caller: Caller,
  groupId: number,
  { sort, descending, role, page, perPage }: MemberQuery,
): Promise<GroupMemberPage> {
  const rows = await countedGroupQuery(db, { group: storableId(groupId), callerId: caller.userId ?? -1 });
  const group = requireVisibleGroup(caller, rows[0]);
  if (group.callerRole === null && !isAdminOf(caller, group.organizationId)) {
    throw new DomainError('group-members-list');
  }
  const counts = rows
    .map((row): RoleRun => ({ role: GROUP_ROLES.find((name) => name === row.role), rows: row.members ?? 0 }))
    .filter((run) => role === undefined || run.role === role);
  const total = counts.reduce((sum, run) => sum + run.rows, 0);
  // Sorted by role, the list is one run of members per role, each sorted by membership id.
  const runs = sort === 'role' ? sortRuns(counts, descending) : [{ role, rows: total }];
  const order = sort === 'role' ? 'id' : sort;
  const readable = runs.map((run): ReadableRun<GroupMember> => ({
    rowCount: run.rows,
    read: ({ reversed, ...window }) =>
      pageQuery({
        order,
        byRole: run.role !== undefined,
        descending: (descending && sort !== 'role') !== reversed,
        reversed,
      })(db, { group: groupId, role: run.role ?? GROUP_ADMIN, ...window }),
  }));
  const members = await readPage(readable, (page - 1) * perPage, perPage);
  return {
    members,
    total,
    canAdd: canChangeMembers(caller, group, 'add_members'),
    canRemove: canChangeMembers(caller, group, 'remove_members'),
  };
}

/** Adjacent members of a list. */
interface RoleRun {
  role: GroupRole | undefined;
  rows: number;
}

function sortRuns(runs: RoleRun[], descending: boolean): RoleRun[] {
  const direction = descending ? -1 : 1;
  return runs.sort((a, b) => ((a.role ?? '') < (b.role ?? '') ? -direction : direction));
}

/** No row has an id that the engines cannot store. */
function storableId(id: number): number {
  if (!Number.isSafeInteger(id)) throw notFound('assessment group');
  return id;
}

interface PageParameters {
  group: number;
  /** Used by queries with `byRole` only. */
  role: GroupRole;
  limit: number;
  offset: number;
}

interface PageShape {
  order: 'createdAt' | 'userUid' | 'id';
  byRole: boolean;
  /** The direction of reading: the opposite of the sort when `reversed`. */
  descending: boolean;
  reversed: boolean;
}

const COLUMNS = { createdAt: 'created_at', userUid: 'user_uid', id: 'id' } as const;

/** An index selects the page; only its users are then joined. */
const pageQuery = memoizeByShape(({ order, byRole, descending, reversed }: PageShape) => {
  const column = COLUMNS[order];
  const direction = descending ? 'desc' : 'asc';
  const ties = reversed ? 'desc' : 'asc';
  return prepareQuery<PageParameters, GroupMember>((db, p) => {
    const inGroup = db
      .selectFrom('assessment_group_members')
      .select(['id', 'user_id', 'user_uid', 'role', 'created_at'])
      .where('group_id', '=', p.group);
    const members = byRole ? inGroup.where('role', '=', p.role) : inGroup;
    const cut = members.orderBy(column, direction).$if(order === 'createdAt', (by) => by.orderBy('id', ties));
    const joined = db
      .selectFrom(cut.limit(p.limit).offset(p.offset).as('page'))
      .innerJoin('users', 'users.id', 'page.user_id')
      .select([
        'page.id as id',
        'page.user_uid as userUid',
        'page.role as role',
        'page.created_at as createdAt',
        'users.email as userEmail',
        'users.name as userName',
      ])
      .orderBy(`page.${column}`, direction);
    return order === 'createdAt' ? joined.orderBy('page.id', ties) : joined;
  });
});
