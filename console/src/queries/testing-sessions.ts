import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { NewTestingSession, TestingSessionChange } from '../../../client/src/description.ts';
import { pluralNoun } from '../components/pluralize.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import { api, parsePage, type TestingSession, parseTotal } from './client.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

const sessionsKey = (uid: string) => ['sessions', uid] as const;

/** Operation 48: the testing sessions of an assessment, the newest first. */
export function useTestingSessions(uid: string): PagedList<TestingSession> {
  const path = { id: uid };
  return usePagedList<TestingSession>({
    key: sessionsKey(uid),
    fetchPage: async (cursor, signal) =>
      parsePage<TestingSession>(
        await api.GET('/v1/assessments/{id}/testing_sessions', {
          params: { path, query: { 'page[size]': PAGE_SIZE, 'page[after]': cursor } },
          signal,
        }),
      ),
    fetchTotal: async (signal) =>
      parseTotal(
        (
          await api.GET('/v1/assessments/{id}/testing_sessions', {
            params: { path, query: { 'page[size]': 1 } },
            signal,
          })
        ).response,
      ),
  });
}

/** Those of an assessment that run, of everybody. */
export const runningSessions = (uid: string) =>
  queryOptions({
    queryKey: [...sessionsKey(uid), 'running'],
    queryFn: async ({ signal }) =>
      (
        await api.GET('/v1/assessments/{id}/testing_sessions', {
          params: { path: { id: uid }, query: { 'filter[running]': true, 'page[size]': 200 } },
          signal,
        })
      ).data,
  });

/** Operation 7. */
export const testingHours = (uid: string) =>
  queryOptions({
    queryKey: [...sessionsKey(uid), 'hours'],
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/assessments/{id}/testing_hours', { params: { path: { id: uid } }, signal })).data,
  });

/** @returns hours as people read them: "2.5 hours" */
export function pluralizeHours(hours: number): string {
  return `${hours.toLocaleString(undefined, { maximumFractionDigits: 2 })} ${pluralNoun(hours, 'hour')}`;
}

/** Operations 49 to 51; each is told, with the way back where there is one. */
export function useTestingSessionMutations(uid: string) {
  const client = useQueryClient();
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ['hours-since'] });
    return client.invalidateQueries({ queryKey: sessionsKey(uid) });
  };
  const post = async (body: NewTestingSession) =>
    (await api.POST('/v1/assessments/{id}/testing_sessions', { params: { path: { id: uid } }, body })).data;
  const patch = async (id: number, body: TestingSessionChange) =>
    (await api.PATCH('/v1/testing_sessions/{id}', { params: { path: { id } }, body })).data;
  const drop = (id: number) => api.DELETE('/v1/testing_sessions/{id}', { params: { path: { id } } });
  const undoing = (act: () => Promise<unknown>) => () =>
    void act()
      .then(refresh)
      .then(
        () => notify('Set back.'),
        (error: unknown) => notifyError('It could not be undone', error),
      );

  const start = useMutation({
    mutationFn: () => post({}),
    onError: (error) => notifyError('The clock could not be started', error),
    async onSuccess({ id }) {
      await refresh();
      notify('The clock runs.', { undo: undoing(() => drop(id)) });
    },
  });
  const stop = useMutation({
    mutationFn: async ({ id, started_at }: TestingSession) =>
      patch(id, {
        ended_at: new Date(Math.max(await fetchServerTime(uid), Date.parse(started_at))).toISOString(),
      }),
    onError: (error) => notifyError('The clock could not be stopped', error),
    async onSuccess({ id, hours }) {
      await refresh();
      notify(`Stopped after ${pluralizeHours(hours)}.`, {
        undo: undoing(() => patch(id, { ended_at: null })),
      });
    },
  });
  const log = useMutation({
    mutationFn: post,
    async onSuccess({ id, hours }) {
      await refresh();
      notify(`${pluralizeHours(hours)} logged.`, { undo: undoing(() => drop(id)) });
    },
  });
  const correct = useMutation({
    mutationFn: ({ session, set }: { session: TestingSession; set: TestingSessionChange }) =>
      patch(session.id, set),
    async onSuccess(_now, { session }) {
      await refresh();
      const { started_at, ended_at, note } = session;
      notify('The session is changed.', {
        undo: undoing(() => patch(session.id, { started_at, ended_at, note })),
      });
    },
  });
  const remove = useMutation({
    mutationFn: ({ id }: TestingSession) => drop(id),
    async onSuccess() {
      await refresh();
      notify('The session is deleted.');
    },
  });
  return { start, stop, log, correct, remove };
}

/** @returns the time by the server's clock, which this computer's may be far from, in milliseconds */
async function fetchServerTime(uid: string): Promise<number> {
  const { response } = await api.GET('/v1/assessments/{id}/testing_hours', { params: { path: { id: uid } } });
  const told = Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(told) ? Date.now() : told;
}
