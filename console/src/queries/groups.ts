import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type {
  AssessmentGroupChange,
  NewAssessmentGroup,
  AdditionResult,
  GroupMember,
  RemovalResult,
} from '../../../client/src/openapi-types.ts';
import { notify } from '../components/notifications.ts';
import { api, type AssessmentGroup } from './client.ts';
import { type PagedList, usePagedList, v1Pages } from './paged-list.ts';
import { queryMessages } from './messages.ts';
import type { BatchItemResult } from '../components/batch-result-dialog.tsx';
import { GROUP_ROLES, type GroupRole } from './enums.ts';
import { chunk } from './chunk.ts';

/** Filters of operation 42. */
export interface GroupSearch {
  search?: string;
  organization_uid?: string[];
}

const GROUPS_KEY = ['groups'] as const;

/** Lists groups (operation 42): all of the organization for admins and staff, their own for others. */
export function useGroups({ search, organization_uid }: GroupSearch): PagedList<AssessmentGroup> {
  const query = {
    ...(search === undefined ? {} : { 'filter[search]': search }),
    ...(organization_uid === undefined ? {} : { 'filter[organization_uid][]': organization_uid }),
  };
  return usePagedList<AssessmentGroup>({
    key: [...GROUPS_KEY, query],
    ...v1Pages((page, signal) =>
      api.GET('/v1/assessment_groups', { params: { query: { ...query, ...page } }, signal }),
    ),
  });
}

/** Reads a group (operation 43). */
export const groupQuery = (id: number) =>
  queryOptions({
    queryKey: ['group', id],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET('/v1/assessment_groups/{id}', {
        params: { path: { id } },
        signal,
      });
      return { ...data, version: response.headers.get('etag') ?? '*' };
    },
  });

/** Searches groups by name, as options of a select. */
export async function findGroups(search: string, signal: AbortSignal) {
  const { data } = await api.GET('/v1/assessment_groups', {
    params: { query: { 'filter[search]': search, 'page[size]': 20 } },
    signal,
  });
  return data.map(({ id, name }) => ({ value: String(id), label: name }));
}

/** Creates, updates and deletes groups (operations 44 to 46). */
export function useGroupMutations() {
  const client = useQueryClient();
  const refresh = (id?: number) => {
    void client.resetQueries({ queryKey: GROUPS_KEY });
    if (id !== undefined) void client.invalidateQueries({ queryKey: ['group', id], exact: true });
  };
  const create = useMutation({
    mutationFn: async (body: NewAssessmentGroup) => (await api.POST('/v1/assessment_groups', { body })).data,
    onSuccess({ name }) {
      refresh();
      notify(queryMessages.created(name));
    },
  });
  const change = useMutation({
    mutationFn: async ({ id, set, version }: { id: number; set: AssessmentGroupChange; version: string }) =>
      (
        await api.PATCH('/v1/assessment_groups/{id}', {
          params: { path: { id }, header: { 'If-Match': version } },
          body: set,
        })
      ).data,
    onSuccess({ id }) {
      refresh(id);
      notify(queryMessages.group.updated);
    },
  });
  const remove = useMutation({
    mutationFn: ({ id }: AssessmentGroup) =>
      api.DELETE('/v1/assessment_groups/{id}', { params: { path: { id } } }),
    onSuccess(_none, { id, name }) {
      client.removeQueries({ queryKey: ['group', id] });
      refresh();
      notify(queryMessages.deleted(name));
    },
  });
  return { create, change, remove };
}

const MEMBERS_PATH = '/api/assessment/v1/assessment-groups/{assessmentGroupId}/members';
const MEMBERS_PAGE_SIZE = 200;
/** Limit of members per request of operations 13 and 47. */
const BATCH_SIZE = 100;

/** The roles from most to fewest permissions. */
export const GROUP_ROLE_LABELS: Readonly<Record<GroupRole, string>> = {
  rbac_group_admin: 'Group admin',
  infra_admin: 'Infrastructure admin',
  assessment_creator: 'Creator',
  assessment_operator: 'Operator',
  assessment_member: 'Member',
  assessment_read_only: 'Reader',
};

export const GROUP_ROLE_DESCRIPTIONS: Readonly<Record<GroupRole, string>> = {
  rbac_group_admin: 'May do everything in the assessments of the group, and manages members.',
  infra_admin: 'Sees and changes assets, without findings, and removes members.',
  assessment_creator: 'Is a member who creates assessments in the group.',
  assessment_operator: 'Is a member who edits the assessments of the group.',
  assessment_member: 'Reports and triages in the assessments of the group.',
  assessment_read_only: 'Reads the assessments of the group.',
};

const membersKey = (id: number) => ['group', id, 'members'] as const;

/** Lists members by role, then by when they joined (operation 12). */
export function useGroupMembers(id: number): PagedList<GroupMember> {
  return usePagedList<GroupMember>({
    key: [...membersKey(id), 'list'],
    pageSize: MEMBERS_PAGE_SIZE,
    async fetchPage(cursor, signal, number) {
      const page = number ?? (cursor === '' ? 1 : Number(cursor));
      const { data } = await api.GET(MEMBERS_PATH, {
        params: {
          path: { assessmentGroupId: id },
          query: { page, perPage: MEMBERS_PAGE_SIZE, sort: 'role' },
        },
        signal,
      });
      const { totalPages, total } = data.metadata.pagination;
      return { rows: data.members, next: page < totalPages ? String(page + 1) : undefined, total };
    },
    fetchTotal: async (signal) => (await fetchCount(id, undefined, signal)).total,
  });
}

/** Members that a row of the list of groups shows. */
const SHOWN_MEMBERS = 5;

/** Reads the first members of a group. */
export const shownMembersQuery = (id: number) =>
  queryOptions({
    queryKey: [...membersKey(id), 'shown'],
    queryFn: async ({ signal }) =>
      (
        await api.GET(MEMBERS_PATH, {
          params: { path: { assessmentGroupId: id }, query: { perPage: SHOWN_MEMBERS, sort: 'role' } },
          signal,
        })
      ).data.members,
    staleTime: 60_000,
  });

/** The roles in the order in which the API sorts members by role. */
const SORTED_ROLES = GROUP_ROLES.toSorted();

/** The heads of the groups of `useGroupMembers`, one for each role that members have. */
export function membersByRole(counts: ReadonlyMap<GroupRole, number>) {
  let index = 0;
  return SORTED_ROLES.flatMap((role) => {
    const count = counts.get(role) ?? 0;
    const head = { id: role, label: GROUP_ROLE_LABELS[role], count, index };
    index += count;
    return count === 0 ? [] : [head];
  });
}

async function fetchCount(id: number, role: GroupRole | undefined, signal: AbortSignal) {
  const { data } = await api.GET(MEMBERS_PATH, {
    params: {
      path: { assessmentGroupId: id },
      query: { perPage: 1, ...(role === undefined ? {} : { role }) },
    },
    signal,
  });
  const { pagination, actions } = data.metadata;
  return { total: pagination.total, actions: actions.map(({ name }) => name) };
}

/** The numbers of members of a group, and the permissions of the user. */
export interface MemberCounts {
  total: number;
  byRole: ReadonlyMap<GroupRole, number>;
  mayAdd: boolean;
  mayRemove: boolean;
}

/** Counts the members by role, and reads whether the user can add and remove members. */
export const memberCountsQuery = (id: number) =>
  queryOptions({
    queryKey: [...membersKey(id), 'counts'],
    async queryFn({ signal }): Promise<MemberCounts> {
      const all = await fetchCount(id, undefined, signal);
      const counts = await Promise.all(GROUP_ROLES.map((role) => fetchCount(id, role, signal)));
      return {
        total: all.total,
        byRole: new Map(GROUP_ROLES.map((role, index) => [role, counts[index]?.total ?? 0])),
        mayAdd: all.actions.includes('batchAdd'),
        mayRemove: all.actions.includes('batchRemove'),
      };
    },
  });

/** A user of a batch; `name` is shown in its result. */
export interface MemberRef {
  userUid: string;
  name: string;
}

const { errors, rejected } = queryMessages.group;

function toBatchItemResult(
  { name }: MemberRef,
  { status, errorCode, errorDetail }: AdditionResult | RemovalResult,
): BatchItemResult {
  if (status === 'noop') return { name, status: 'unchanged' };
  if (status !== 'error') return { name, status: 'done' };
  return {
    name,
    status: 'failed',
    reason: errors[errorCode ?? ''] ?? errorDetail ?? rejected,
  };
}

/** Adds and removes members in batches (operations 13 and 47). */
export function useUpdateMembers(id: number) {
  const client = useQueryClient();
  const path = { assessmentGroupId: id };
  const refresh = async () => {
    void client.invalidateQueries({ queryKey: ['groups'] });
    await client.invalidateQueries({ queryKey: ['group', id] });
  };
  return {
    /** Adds members, or changes the role of existing ones. */
    async add(people: readonly (MemberRef & { role: GroupRole })[]): Promise<BatchItemResult[]> {
      const results: BatchItemResult[] = [];
      try {
        for (const batch of chunk(people, BATCH_SIZE)) {
          const members = batch.map(({ userUid, role }) => ({ userUid, role }));
          const { data } = await api.POST(`${MEMBERS_PATH}/batchAdd`, {
            params: { path },
            body: { members },
          });
          results.push(
            ...data.results.map((result, index) => toBatchItemResult(batch[index] as MemberRef, result)),
          );
        }
      } finally {
        await refresh();
      }
      return results;
    },
    async remove(people: readonly MemberRef[]): Promise<BatchItemResult[]> {
      const results: BatchItemResult[] = [];
      try {
        for (const batch of chunk(people, BATCH_SIZE)) {
          const body = { userUids: batch.map(({ userUid }) => userUid) };
          const { data } = await api.POST(`${MEMBERS_PATH}/batchRemove`, { params: { path }, body });
          results.push(
            ...data.results.map((result, index) => toBatchItemResult(batch[index] as MemberRef, result)),
          );
        }
      } finally {
        await refresh();
      }
      return results;
    },
  };
}
