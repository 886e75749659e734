import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type {
  NewTestingSession,
  TestingSessionChange,
  TestingSessionWithEdits,
} from '../../../client/src/openapi-types.ts';
import { notify, notifyError } from '../components/notifications.ts';
import { api, parseTotal, type TestingSession } from './client.ts';
import { PAGE_SIZE, type PagedList, usePagedList, v1Pages } from './paged-list.ts';
import { commonMessages } from '../components/messages.ts';
import { queryMessages } from './messages.ts';

const sessionsKey = (uid: string) => ['sessions', uid] as const;

/** Lists the testing sessions of an assessment, newest first (operation 48). */
export function useTestingSessions(uid: string): PagedList<TestingSessionWithEdits> {
  const path = { id: uid };
  return usePagedList<TestingSessionWithEdits>({
    key: sessionsKey(uid),
    ...v1Pages((page, signal) =>
      api.GET('/v1/assessments/{id}/testing_sessions', { params: { path, query: { ...page } }, signal }),
    ),
  });
}

/** Lists the running sessions of all testers on an assessment. */
export const runningSessionsQuery = (uid: string) =>
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

/** The latest sessions of an assessment, and whether these are all. */
export const latestSessionsQuery = (uid: string) =>
  queryOptions({
    queryKey: [...sessionsKey(uid), 'latest'],
    async queryFn({ signal }) {
      const { data, response } = await api.GET('/v1/assessments/{id}/testing_sessions', {
        params: { path: { id: uid }, query: { 'page[size]': PAGE_SIZE } },
        signal,
      });
      return { sessions: data, isComplete: parseTotal(response) <= PAGE_SIZE };
    },
  });

/** Reads the testing hours of an assessment (operation 7). */
export const testingHoursQuery = (uid: string) =>
  queryOptions({
    queryKey: [...sessionsKey(uid), 'hours'],
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/assessments/{id}/testing_hours', { params: { path: { id: uid } }, signal })).data,
  });

/** Starts, stops, logs, edits and deletes testing sessions (operations 49 to 51), with undo where possible. */
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
  const undoing = (undo: () => Promise<unknown>) => () =>
    void undo()
      .then(refresh)
      .then(
        () => notify(commonMessages.undone),
        (error: unknown) => notifyError(commonMessages.undoFailed, error),
      );

  const start = useMutation({
    mutationFn: () => post({}),
    onError: (error) => notifyError(queryMessages.testingSession.timerStartFailed, error),
    async onSuccess({ id }) {
      await refresh();
      notify(queryMessages.testingSession.timerStarted, { undo: undoing(() => drop(id)) });
    },
  });
  const stop = useMutation({
    mutationFn: async ({ id, started_at }: TestingSession) =>
      patch(id, {
        ended_at: new Date(Math.max(await fetchServerTime(uid), Date.parse(started_at))).toISOString(),
      }),
    onError: (error) => notifyError(queryMessages.testingSession.timerStopFailed, error),
    async onSuccess({ id, hours }) {
      await refresh();
      notify(queryMessages.testingSession.timerStopped(hours), {
        undo: undoing(() => patch(id, { ended_at: null })),
      });
    },
  });
  const log = useMutation({
    mutationFn: post,
    async onSuccess({ id, hours }) {
      await refresh();
      notify(queryMessages.testingSession.logged(hours), { undo: undoing(() => drop(id)) });
    },
  });
  const correct = useMutation({
    mutationFn: ({ session, set }: { session: TestingSession; set: TestingSessionChange }) =>
      patch(session.id, set),
    async onSuccess(_now, { session }) {
      await refresh();
      const { started_at, ended_at, note } = session;
      notify(queryMessages.testingSession.updated, {
        undo: undoing(() => patch(session.id, { started_at, ended_at, note })),
      });
    },
  });
  const remove = useMutation({
    mutationFn: ({ id }: TestingSession) => drop(id),
    async onSuccess() {
      await refresh();
      notify(queryMessages.testingSession.deleted);
    },
  });
  return { start, stop, log, correct, remove };
}

/** Reads the server's time in milliseconds, as the clock of this computer may differ. */
async function fetchServerTime(uid: string): Promise<number> {
  const { response } = await api.GET('/v1/assessments/{id}/testing_hours', { params: { path: { id: uid } } });
  const serverTime = Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(serverTime) ? Date.now() : serverTime;
}
