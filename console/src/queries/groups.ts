import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { AssessmentGroupChange, NewAssessmentGroup } from '../../../client/src/openapi-types.ts';
import { notify } from '../components/notifications.tsx';
import { api, type AssessmentGroup } from './client.ts';
import { type PagedList, usePagedList, v1Pages } from './paged-list.ts';
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
