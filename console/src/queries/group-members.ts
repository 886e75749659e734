import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { AdditionResult, GroupMember, RemovalResult } from '../../../client/src/description.ts';
import type { Outcome } from '../components/batch-result-dialog.tsx';
import { api } from './client.ts';
import { type List, useList } from './paged-list.ts';

const PATH = '/api/assessment/v1/assessment-groups/{assessmentGroupId}/members';
const SIZE = 200;
/** The most people of one request of operations 13 and 47. */
const BATCH = 100;

export type GroupRole = GroupMember['role'];

/** The roles, with their words. */
export const ROLES: readonly { value: GroupRole; label: string; does: string }[] = [
  { value: 'rbac_group_admin', label: 'Group admin', does: 'Members, and all about its assessments.' },
  { value: 'infra_admin', label: 'Infrastructure admin', does: 'Members but for the admins.' },
  { value: 'assessment_creator', label: 'Creator', does: 'Creates assessments in the group.' },
  { value: 'assessment_operator', label: 'Operator', does: 'Changes its assessments that they reach.' },
  { value: 'assessment_member', label: 'Member', does: 'Belongs to the group.' },
  { value: 'assessment_read_only', label: 'Reader', does: 'Sees who belongs to it.' },
];

/** @returns the word of a role */
export function roleName(role: string): string {
  return ROLES.find(({ value }) => value === role)?.label ?? role;
}

const keyOf = (id: number) => ['group', id, 'members'] as const;

/** Operation 12: the members of a group, by role and then by when they came. */
export function useMembers(id: number, role: GroupRole | undefined): List<GroupMember> {
  return useList<GroupMember>({
    key: [...keyOf(id), role ?? ''],
    pageSize: SIZE,
    async page(cursor, signal) {
      const page = cursor === '' ? 1 : Number(cursor);
      const { data } = await api.GET(PATH, {
        params: {
          path: { assessmentGroupId: id },
          query: { page, perPage: SIZE, sort: 'role', ...(role === undefined ? {} : { role }) },
        },
        signal,
      });
      const { totalPages } = data.metadata.pagination;
      return { rows: data.members, next: page < totalPages ? String(page + 1) : undefined };
    },
    count: async (signal) => (await readCount(id, role, signal)).total,
  });
}

async function readCount(id: number, role: GroupRole | undefined, signal: AbortSignal) {
  const { data } = await api.GET(PATH, {
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
    queryKey: [...keyOf(id), 'counts'],
    async queryFn({ signal }) {
      const all = await readCount(id, undefined, signal);
      const counts = await Promise.all(ROLES.map(({ value }) => readCount(id, value, signal)));
      return {
        total: all.total,
        byRole: new Map(ROLES.map(({ value }, index) => [value, counts[index]?.total ?? 0])),
        mayAdd: all.actions.includes('batchAdd'),
        mayRemove: all.actions.includes('batchRemove'),
      };
    },
  });

/** Somebody of a batch, and how they are called where the result is shown. */
export interface BatchPerson {
  userUid: string;
  name: string;
}

const REASONS: Readonly<Record<string, string>> = {
  user_not_found: 'There is no such person in the organization.',
  user_not_in_org: 'They belong to another organization.',
  role_not_assignable: 'You may not give this role, or change who has theirs.',
};

function outcomeOf(
  { name }: BatchPerson,
  { status, errorCode, errorDetail }: AdditionResult | RemovalResult,
): Outcome {
  if (status === 'noop') return { name, outcome: 'already' };
  if (status !== 'error') return { name, outcome: 'done' };
  return { name, outcome: 'refused', why: REASONS[errorCode ?? ''] ?? errorDetail ?? 'The server refused.' };
}

function* batches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += BATCH) yield items.slice(from, from + BATCH);
}

/** Operations 13 and 47, in as many requests as it takes. */
export function useMemberBatches(id: number) {
  const client = useQueryClient();
  const path = { assessmentGroupId: id };
  const refresh = async () => {
    void client.invalidateQueries({ queryKey: ['groups'] });
    await client.invalidateQueries({ queryKey: ['group', id] });
  };
  return {
    /** Makes people members, or gives members another role. */
    async add(people: readonly (BatchPerson & { role: GroupRole })[]): Promise<Outcome[]> {
      const outcomes: Outcome[] = [];
      try {
        for (const batch of batches(people)) {
          const members = batch.map(({ userUid, role }) => ({ userUid, role }));
          const { data } = await api.POST(`${PATH}/batchAdd`, { params: { path }, body: { members } });
          outcomes.push(...data.results.map((result, at) => outcomeOf(batch[at] as BatchPerson, result)));
        }
      } finally {
        await refresh();
      }
      return outcomes;
    },
    async remove(people: readonly BatchPerson[]): Promise<Outcome[]> {
      const outcomes: Outcome[] = [];
      try {
        for (const batch of batches(people)) {
          const body = { userUids: batch.map(({ userUid }) => userUid) };
          const { data } = await api.POST(`${PATH}/batchRemove`, { params: { path }, body });
          outcomes.push(...data.results.map((result, at) => outcomeOf(batch[at] as BatchPerson, result)));
        }
      } finally {
        await refresh();
      }
      return outcomes;
    },
  };
}
