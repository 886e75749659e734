import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { AdditionResult, GroupMember, RemovalResult } from '../../../client/src/description.ts';
import type { BatchItemResult } from '../components/batch-result-dialog.tsx';
import { api } from './client.ts';
import { type PagedList, usePagedList } from './paged-list.ts';

const MEMBERS_PATH = '/api/assessment/v1/assessment-groups/{assessmentGroupId}/members';
const MEMBERS_PAGE_SIZE = 200;
/** The most people of one request of operations 13 and 47. */
const BATCH_SIZE = 100;

export type GroupRole = GroupMember['role'];

/** The roles, with their words. */
export const GROUP_ROLES: readonly { value: GroupRole; label: string; description: string }[] = [
  { value: 'rbac_group_admin', label: 'Group admin', description: 'Members, and all about its assessments.' },
  { value: 'infra_admin', label: 'Infrastructure admin', description: 'Members but for the admins.' },
  { value: 'assessment_creator', label: 'Creator', description: 'Creates assessments in the group.' },
  {
    value: 'assessment_operator',
    label: 'Operator',
    description: 'Changes its assessments that they reach.',
  },
  { value: 'assessment_member', label: 'Member', description: 'Belongs to the group.' },
  { value: 'assessment_read_only', label: 'Reader', description: 'Sees who belongs to it.' },
];

/** @returns the word of a role */
export function groupRoleLabel(role: string): string {
  return GROUP_ROLES.find(({ value }) => value === role)?.label ?? role;
}

const membersKey = (id: number) => ['group', id, 'members'] as const;

/** Operation 12: the members of a group, by role and then by when they came. */
export function useGroupMembers(id: number, role: GroupRole | undefined): PagedList<GroupMember> {
  return usePagedList<GroupMember>({
    key: [...membersKey(id), role ?? ''],
    pageSize: MEMBERS_PAGE_SIZE,
    async fetchPage(cursor, signal) {
      const page = cursor === '' ? 1 : Number(cursor);
      const { data } = await api.GET(MEMBERS_PATH, {
        params: {
          path: { assessmentGroupId: id },
          query: { page, perPage: MEMBERS_PAGE_SIZE, sort: 'role', ...(role === undefined ? {} : { role }) },
        },
        signal,
      });
      const { totalPages } = data.metadata.pagination;
      return { rows: data.members, next: page < totalPages ? String(page + 1) : undefined };
    },
    fetchTotal: async (signal) => (await fetchCount(id, role, signal)).total,
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

/** How many members a group has in each role, and what one may do with them. */
export const memberCounts = (id: number) =>
  queryOptions({
    queryKey: [...membersKey(id), 'counts'],
    async queryFn({ signal }) {
      const all = await fetchCount(id, undefined, signal);
      const counts = await Promise.all(GROUP_ROLES.map(({ value }) => fetchCount(id, value, signal)));
      return {
        total: all.total,
        byRole: new Map(GROUP_ROLES.map(({ value }, index) => [value, counts[index]?.total ?? 0])),
        mayAdd: all.actions.includes('batchAdd'),
        mayRemove: all.actions.includes('batchRemove'),
      };
    },
  });

/** Somebody of a batch, and how they are called where the result is shown. */
export interface MemberRef {
  userUid: string;
  name: string;
}

const ERROR_TEXTS: Readonly<Record<string, string>> = {
  user_not_found: 'There is no such person in the organization.',
  user_not_in_org: 'They belong to another organization.',
  role_not_assignable: 'You may not give this role, or change who has theirs.',
};

function toBatchItemResult(
  { name }: MemberRef,
  { status, errorCode, errorDetail }: AdditionResult | RemovalResult,
): BatchItemResult {
  if (status === 'noop') return { name, status: 'already' };
  if (status !== 'error') return { name, status: 'done' };
  return {
    name,
    status: 'refused',
    reason: ERROR_TEXTS[errorCode ?? ''] ?? errorDetail ?? 'The server refused.',
  };
}

function* inBatches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += BATCH_SIZE) yield items.slice(from, from + BATCH_SIZE);
}

/** Operations 13 and 47, in as many requests as it takes. */
export function useUpdateMembers(id: number) {
  const client = useQueryClient();
  const path = { assessmentGroupId: id };
  const refresh = async () => {
    void client.invalidateQueries({ queryKey: ['groups'] });
    await client.invalidateQueries({ queryKey: ['group', id] });
  };
  return {
    /** Makes people members, or gives members another role. */
    async add(people: readonly (MemberRef & { role: GroupRole })[]): Promise<BatchItemResult[]> {
      const outcomes: BatchItemResult[] = [];
      try {
        for (const batch of inBatches(people)) {
          const members = batch.map(({ userUid, role }) => ({ userUid, role }));
          const { data } = await api.POST(`${MEMBERS_PATH}/batchAdd`, {
            params: { path },
            body: { members },
          });
          outcomes.push(
            ...data.results.map((result, at) => toBatchItemResult(batch[at] as MemberRef, result)),
          );
        }
      } finally {
        await refresh();
      }
      return outcomes;
    },
    async remove(people: readonly MemberRef[]): Promise<BatchItemResult[]> {
      const outcomes: BatchItemResult[] = [];
      try {
        for (const batch of inBatches(people)) {
          const body = { userUids: batch.map(({ userUid }) => userUid) };
          const { data } = await api.POST(`${MEMBERS_PATH}/batchRemove`, { params: { path }, body });
          outcomes.push(
            ...data.results.map((result, at) => toBatchItemResult(batch[at] as MemberRef, result)),
          );
        }
      } finally {
        await refresh();
      }
      return outcomes;
    },
  };
}
