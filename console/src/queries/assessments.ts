import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { AssessmentChange, NewAssessment } from '../../../client/src/description.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import { api, type Assessment, parsePage, parseTotal } from './client.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

/** Of operation 36. */
export interface AssessmentSearch {
  state?: string[];
  tag_id?: number[];
  assessment_group_id?: number;
  organization_uid?: string[];
  search?: string;
  sort?: string;
}

/** An assessment with the version that a change of it names. */
export type VersionedAssessment = Assessment & { version: string };

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

/** Operation 36. */
export function useAssessments(search: AssessmentSearch): PagedList<Assessment> {
  const query = toQuery(search);
  return usePagedList<Assessment>({
    key: [...ASSESSMENTS_KEY, search],
    fetchPage: async (cursor, signal) =>
      parsePage<Assessment>(
        await api.GET('/v1/assessments', {
          params: { query: { ...query, 'page[size]': PAGE_SIZE, 'page[after]': cursor } },
          signal,
        }),
      ),
    fetchTotal: async (signal) =>
      parseTotal(
        (await api.GET('/v1/assessments', { params: { query: { ...query, 'page[size]': 1 } }, signal }))
          .response,
      ),
  });
}

/** Operation 37. */
export const assessment = (uid: string) =>
  queryOptions({
    queryKey: ['assessment', uid],
    queryFn: async ({ signal }): Promise<VersionedAssessment> =>
      withVersion(await api.GET('/v1/assessments/{id}', { params: { path: { id: uid } }, signal })),
  });

const withVersion = ({ data, response }: { data: Assessment; response: Response }): VersionedAssessment => ({
  ...data,
  version: response.headers.get('etag') ?? '*',
});

/** Operation 38. */
export function useCreateAssessment() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: NewAssessment) => (await api.POST('/v1/assessments', { body })).data,
    onSuccess({ name }) {
      void client.resetQueries({ queryKey: ASSESSMENTS_KEY });
      notify(`${name} is created.`);
    },
  });
}

interface AssessmentUpdate {
  set: AssessmentChange;
  /** The version that one saw; absent: whichever it is now. */
  version?: string;
  /** What is told of it: "The state is paused." */
  message: string;
}

/** Operation 39: what can be shown at once is, and comes back when the server refuses; what happened is told, with the way back. */
export function useUpdateAssessment(uid: string) {
  const client = useQueryClient();
  const { queryKey } = assessment(uid);
  const send = async ({ set, version }: Omit<AssessmentUpdate, 'message'>) => {
    const answer = await api.PATCH('/v1/assessments/{id}', {
      params: { path: { id: uid }, ...(version === undefined ? {} : { header: { 'If-Match': version } }) },
      body: set,
    });
    client.setQueryData(queryKey, withVersion(answer));
    void client.invalidateQueries({ queryKey: ASSESSMENTS_KEY });
    void client.invalidateQueries({ queryKey: ['sessions', uid] });
  };
  const undo = async (set: AssessmentChange) => {
    try {
      await send({ set });
      notify('Set back.');
    } catch (error) {
      notifyError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: send,
    onMutate({ set }: AssessmentUpdate) {
      const former = client.getQueryData(queryKey);
      if (former !== undefined && set.state !== undefined && set.state !== null)
        client.setQueryData(queryKey, { ...former, state: set.state });
      return former;
    },
    onError(_error, _change, former) {
      if (former !== undefined) client.setQueryData(queryKey, former);
    },
    onSuccess(_none, { set, message }, former) {
      if (former === undefined) notify(message);
      else notify(message, { undo: () => void undo(inverseOf(former, set)) });
    },
  });
}

/** @returns what sets the members of a change back */
function inverseOf(former: Assessment, set: AssessmentChange): AssessmentChange {
  const whole: AssessmentChange = {
    name: former.name,
    description: former.description,
    type: former.type as 'web',
    state: former.state as 'active',
    assessment_group_id: former.assessment_group_id,
    starts_on: former.starts_on,
    ends_on: former.ends_on,
    tag_list: former.tags.map(({ name }) => name),
  };
  return Object.fromEntries(Object.entries(whole).filter(([name]) => Object.hasOwn(set, name)));
}

/** Operation 84. */
export function useDeleteAssessment(uid: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.DELETE('/v1/assessments/{id}', { params: { path: { id: uid } } }),
    onSuccess() {
      client.removeQueries({ queryKey: ['assessment', uid] });
      void client.resetQueries({ queryKey: ASSESSMENTS_KEY });
      notify(`The assessment ${uid} is deleted.`);
    },
  });
}
