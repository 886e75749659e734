import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AssessmentGroupChange, NewAssessmentGroup } from '../../../client/src/description.ts';
import { notify } from '../components/notifications.tsx';
import { currentUser } from '../session/current-user.ts';
import { api, type AssessmentGroup, parsePage, parseTotal } from './client.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';
import { queryMessages } from './messages.ts';

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
    fetchPage: async (cursor, signal) =>
      parsePage<AssessmentGroup>(
        await api.GET('/v1/assessment_groups', {
          params: { query: { ...query, 'page[size]': PAGE_SIZE, 'page[after]': cursor } },
          signal,
        }),
      ),
    fetchTotal: async (signal) =>
      parseTotal(
        (await api.GET('/v1/assessment_groups', { params: { query: { ...query, 'page[size]': 1 } }, signal }))
          .response,
      ),
  });
}

/** Reads a group (operation 43). */
export const group = (id: number) =>
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

/** Roles in a group that let one do something with its assessments. */
const CREATOR_ROLES = ['assessment_creator', 'rbac_group_admin'] as const;
const OPERATOR_ROLES = ['assessment_operator', 'rbac_group_admin'] as const;

/** Whether somebody has one of these roles in a group. */
async function hasGroupRole(
  roles: readonly ((typeof CREATOR_ROLES)[number] | (typeof OPERATOR_ROLES)[number])[],
  userUid: string,
  id: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (const role of roles)
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const { data } = await api.GET('/api/assessment/v1/assessment-groups/{assessmentGroupId}/members', {
        params: { path: { assessmentGroupId: id }, query: { role, page, perPage: 200 } },
        signal,
      });
      if (data.members.some((member) => member.userUid === userUid)) return true;
      pages = data.metadata.pagination.totalPages;
    }
  return false;
}

/** Whether whoever is signed in may change the assessments of a group. */
export function useCanEditAssessments(groupId: number | null | undefined): boolean {
  const { data: who } = useQuery(currentUser);
  const asks = who !== undefined && who.admin !== true && typeof groupId === 'number';
  const { data = false } = useQuery({
    queryKey: ['group', groupId, 'operates'],
    queryFn: async ({ signal }) => {
      // Of a group that one is no member of nothing is told.
      const { data: own } = await api.GET('/v1/assessment_groups', {
        params: { query: { 'page[size]': 200 } },
        signal,
      });
      const isMember = own.some(({ id }) => id === groupId);
      return isMember && hasGroupRole(OPERATOR_ROLES, who?.uid ?? '', groupId ?? 0, signal);
    },
    enabled: asks,
    staleTime: 60_000,
  });
  return who?.admin === true || (asks && data);
}

/** Whether whoever is signed in may create assessments: admins, and who has such a role in a group; `undefined` until that is known. */
function useCanCreate(): boolean | undefined {
  const { data: who } = useQuery(currentUser);
  const asks = who !== undefined && who.admin !== true;
  const { data } = useQuery({
    queryKey: ['groups-to-create-in'],
    async queryFn({ signal }) {
      const query = { 'page[size]': 200 };
      for await (const { id } of api.rows('/v1/assessment_groups', { params: { query }, signal }))
        if (await hasGroupRole(CREATOR_ROLES, who?.uid ?? '', id, signal)) return true;
      return false;
    },
    enabled: asks,
    staleTime: 60_000,
  });
  return asks ? data : who?.admin;
}

/** The same, where what is not known yet is not offered. */
export const useCanCreateAssessments = (): boolean => useCanCreate() === true;

/** Whether whoever is signed in has access to no assessment, and may begin none. */
export function useHasNoAccess(): boolean {
  const { data: who } = useQuery(currentUser);
  const creates = useCanCreate();
  return who !== undefined && who.admin !== true && who.assessment_ids.length === 0 && creates === false;
}
