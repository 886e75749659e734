import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { AssessmentChange, AssessmentUser, NewAssessment } from '../../../client/src/openapi-types.ts';
import type { Option } from '../components/filter-definition.ts';
import { notify, notifyError } from '../components/notifications.ts';
import { api, type Assessment, parsePage, parseTotal } from './client.ts';
import { type PagedList, usePagedList, v1Pages, PAGE_SIZE } from './paged-list.ts';
import { commonMessages } from '../components/messages.ts';
import { GROUP_ROLE_LABELS } from './groups.ts';
import { queryMessages } from './messages.ts';

/** Filters and order of operation 36. */
export interface AssessmentSearch {
  state?: string[];
  tag_id?: number[];
  assessment_group_id?: number;
  organization_uid?: string[];
  search?: string;
  sort?: string;
}

/** An assessment with its ETag. */
export type VersionedAssessment = Assessment & { version: string };

/** The roles of access by name, from most to fewest permissions. */
export const ACCESS_ROLES = ['assessment_member', 'assessment_developer', 'assessment_read_only'] as const;
export type AccessRole = (typeof ACCESS_ROLES)[number];

/** The roles in an assessment. */
export const ROLE_LABELS: Readonly<Record<AssessmentUser['role'], string>> = {
  ...GROUP_ROLE_LABELS,
  assessment_developer: 'Developer',
};

const ASSESSMENTS_KEY = ['assessments'] as const;

function toQuery(search: AssessmentSearch): Record<string, unknown> {
  const { assessment_group_id, sort, ...filters } = search;
  return {
    ...Object.fromEntries(
      Object.entries(filters).map(([name, value]) => [
        Array.isArray(value) ? `filter[${name}][]` : `filter[${name}]`,
        value,
      ]),
    ),
    ...(assessment_group_id === undefined ? {} : { assessment_group_id }),
    ...(sort === undefined ? {} : { sort }),
  };
}

interface AssessmentConditions {
  organizationUid?: string | undefined;
  /** Only assessments in which the user has this permission. */
  permission?: keyof NonNullable<Assessment['permissions']>;
}

/** The number of options that a select shows. */
const MAX_OPTIONS = 20;

/** Searches assessments by name or uid, as options of a select. */
export async function findAssessments(
  search: string,
  signal: AbortSignal,
  { organizationUid, permission }: AssessmentConditions = {},
): Promise<Option[]> {
  const options: Option[] = [];
  const query = {
    ...(search === '' ? {} : { 'filter[search]': search }),
    ...(organizationUid === undefined ? {} : { 'filter[organization_uid][]': [organizationUid] }),
    ...(permission === undefined ? {} : { include_permissions: true }),
    'page[size]': permission === undefined ? MAX_OPTIONS : 5 * MAX_OPTIONS,
  };
  for await (const { uid, name, permissions } of api.rows('/v1/assessments', { params: { query }, signal })) {
    if (permission === undefined || permissions?.[permission] === true)
      options.push({ value: uid, label: name });
    if (options.length === MAX_OPTIONS) break;
  }
  return options;
}

/** Reads the name of an assessment. */
export const loadAssessmentName = async (uid: string, signal: AbortSignal): Promise<string> =>
  (await api.GET('/v1/assessments/{id}', { params: { path: { id: uid } }, signal })).data.name;

/** Lists assessments (operation 36). */
export function useAssessments(search: AssessmentSearch): PagedList<Assessment> {
  const query = toQuery(search);
  return usePagedList<Assessment>({
    key: [...ASSESSMENTS_KEY, search],
    ...v1Pages((page, signal) =>
      api.GET('/v1/assessments', { params: { query: { ...query, ...page } }, signal }),
    ),
  });
}

/** Counts the assessments that match a search (operation 36). */
export const assessmentTotalQuery = (search: AssessmentSearch) =>
  queryOptions({
    queryKey: [...ASSESSMENTS_KEY, 'total', search],
    queryFn: async ({ signal }) => {
      const query = { ...toQuery(search), 'page[size]': 1 };
      return parseTotal((await api.GET('/v1/assessments', { params: { query }, signal })).response);
    },
  });

/** Reads the newest active assessments, with their numbers of open vulnerabilities. */
export const activeAssessmentsQuery = queryOptions({
  queryKey: ['active-assessments'],
  queryFn: async ({ signal }) =>
    (
      await api.GET('/v1/assessments', {
        params: { query: { 'filter[state][]': ['active'], sort: '-created_at', 'page[size]': PAGE_SIZE } },
        signal,
      })
    ).data,
  staleTime: 60_000,
});

/** Refetches lists of assessments. */
function refreshLists(client: QueryClient): void {
  void client.resetQueries({ queryKey: ASSESSMENTS_KEY });
  void client.invalidateQueries({ queryKey: activeAssessmentsQuery.queryKey });
}

/** Reads an assessment (operation 37). */
export const assessmentQuery = (uid: string) =>
  queryOptions({
    queryKey: ['assessment', uid],
    queryFn: async ({ signal }): Promise<VersionedAssessment> =>
      withVersion(
        await api.GET('/v1/assessments/{id}', {
          params: { path: { id: uid }, query: { include_permissions: true } },
          signal,
        }),
      ),
  });

const withVersion = ({ data, response }: { data: Assessment; response: Response }): VersionedAssessment => ({
  ...data,
  version: response.headers.get('etag') ?? '*',
});

/** Creates an assessment (operation 38). */
export function useCreateAssessment() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: NewAssessment) => (await api.POST('/v1/assessments', { body })).data,
    onSuccess({ name }) {
      refreshLists(client);
      void client.invalidateQueries({ queryKey: ['permissions'] });
      notify(queryMessages.created(name));
    },
  });
}

interface AssessmentUpdate {
  set: AssessmentChange;
  /** ETag for `If-Match`; if absent, the update is unconditional. */
  version?: string;
  /** Shown on success: "State set to Paused". */
  message: string;
}

/** Updates an assessment (operation 39), the state optimistically, with undo. */
export function useUpdateAssessment(uid: string) {
  const client = useQueryClient();
  const { queryKey } = assessmentQuery(uid);
  const send = async ({ set, version }: Omit<AssessmentUpdate, 'message'>) => {
    const result = await api.PATCH('/v1/assessments/{id}', {
      params: { path: { id: uid }, ...(version === undefined ? {} : { header: { 'If-Match': version } }) },
      body: set,
    });
    client.setQueryData(queryKey, (previous) => ({
      ...withVersion(result),
      ...(previous?.permissions === undefined ? {} : { permissions: previous.permissions }),
    }));
    void client.invalidateQueries({ queryKey: ASSESSMENTS_KEY });
    void client.invalidateQueries({ queryKey: activeAssessmentsQuery.queryKey });
    void client.invalidateQueries({ queryKey: ['sessions', uid] });
  };
  const undo = async (set: AssessmentChange) => {
    try {
      await send({ set });
      notify(commonMessages.undone);
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  return useMutation({
    mutationFn: send,
    onMutate({ set }: AssessmentUpdate) {
      const previous = client.getQueryData(queryKey);
      if (previous !== undefined && set.state !== undefined && set.state !== null)
        client.setQueryData(queryKey, { ...previous, state: set.state });
      return previous;
    },
    onError(_error, _change, previous) {
      if (previous !== undefined) client.setQueryData(queryKey, previous);
    },
    onSuccess(_none, { set, message }, previous) {
      if (previous === undefined) notify(message);
      else notify(message, { undo: () => void undo(inverseOf(previous, set)) });
    },
  });
}

/** @returns the update that restores the members that an update sets */
function inverseOf(previous: Assessment, set: AssessmentChange): AssessmentChange {
  const all: AssessmentChange = {
    name: previous.name,
    description: previous.description,
    type: previous.type as 'web',
    state: previous.state as 'active',
    drafts: previous.drafts,
    assessment_group_id: previous.assessment_group_id,
    starts_on: previous.starts_on,
    ends_on: previous.ends_on,
    tag_list: previous.tags.map(({ name }) => name),
  };
  return Object.fromEntries(Object.entries(all).filter(([name]) => Object.hasOwn(set, name)));
}

/** Deletes an assessment (operation 84). */
export function useDeleteAssessment(uid: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.DELETE('/v1/assessments/{id}', { params: { path: { id: uid } } }),
    onSuccess() {
      client.removeQueries({ queryKey: ['assessment', uid] });
      refreshLists(client);
      notify(queryMessages.deleted(uid));
    },
  });
}

const accessKey = (uid: string) => ['assessment', uid, 'access'] as const;

/** Lists the users with access to an assessment, by name or by group (operation 40). */
export function useAccess(uid: string): PagedList<AssessmentUser> {
  return usePagedList<AssessmentUser>({
    key: accessKey(uid),
    fetchPage: async (cursor, signal) =>
      parsePage<AssessmentUser>(
        await api.GET('/v1/assessments/{id}/users', {
          params: { path: { id: uid }, query: { 'page[size]': PAGE_SIZE, 'page[after]': cursor } },
          signal,
        }),
      ),
  });
}

interface AccessChange {
  person: { id: number; name?: string | null; email: string };
  /** The role by name; `null` for none. */
  role: AccessRole | null;
  /** The role by name before. */
  previous: AccessRole | null;
}

/** Gives a role by name, or takes it away (operation 40), with undo. */
export function useUpdateAccess(uid: string) {
  const client = useQueryClient();
  const send = async ({ person: { id }, role }: AccessChange) => {
    await api.PATCH('/v1/assessments/{id}/users', {
      params: { path: { id: uid } },
      body: role === null ? { remove: [id] } : { add: [{ id, role }] },
    });
    await client.invalidateQueries({ queryKey: accessKey(uid) });
    void client.invalidateQueries({ queryKey: ['person', id] });
  };
  const undo = async (change: AccessChange) => {
    try {
      await send({ ...change, role: change.previous, previous: change.role });
      notify(commonMessages.undone);
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  return useMutation({
    mutationFn: send,
    onError: (error) => notifyError(queryMessages.access.failed, error),
    onSuccess(_none, change) {
      const { person, role, previous } = change;
      const name = person.name ?? person.email;
      const { given, changed, removed } = queryMessages.access;
      const message =
        role === null ? removed(name) : previous === null ? given(name) : changed(name, ROLE_LABELS[role]);
      notify(message, {
        undo: () => void undo(change),
      });
    },
  });
}
