import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { notify, notifyError } from '../components/notifications.tsx';
import { api, type Comment, parsePage, type Retest, type TimelineEntry } from './client.ts';
import { queryMessages } from './messages.ts';

const TIMELINE_PAGE_SIZE = 50;

/** Reads all comments, oldest first (operation 24). */
export const comments = (id: number) =>
  queryOptions({
    queryKey: ['vulnerability', id, 'comments'],
    async queryFn({ signal }) {
      const found: Comment[] = [];
      const params = { path: { id }, query: { 'page[size]': 200 } };
      for await (const comment of api.rows('/v1/vulnerabilities/{id}/comments', { params, signal }))
        found.push(comment);
      return found;
    },
  });

/** Reads all retests, oldest first (operation 27). */
export const retests = (id: number) =>
  queryOptions({
    queryKey: ['vulnerability', id, 'retests'],
    async queryFn({ signal }) {
      const found: Retest[] = [];
      const params = { path: { vulnerability_id: id }, query: { 'page[size]': 200 } };
      for await (const retest of api.rows('/v1/vulnerabilities/{vulnerability_id}/patch_verifications', {
        params,
        signal,
      }))
        found.push(retest);
      return found;
    },
  });

/** Reads the timeline by page (operation 31). */
export const timeline = (id: number, newestFirst: boolean) =>
  infiniteQueryOptions({
    queryKey: ['vulnerability', id, 'timeline', newestFirst],
    async queryFn({ pageParam, signal }) {
      const query = {
        'page[size]': TIMELINE_PAGE_SIZE,
        'page[after]': pageParam,
        sort: newestFirst ? ('-at' as const) : ('at' as const),
      };
      const params = { path: { id }, query };
      return parsePage<TimelineEntry>(await api.GET('/v1/vulnerabilities/{id}/timeline', { params, signal }));
    },
    initialPageParam: '',
    getNextPageParam: (last) => last.next,
  });

/** Reads when a tester's first testing session on an assessment began; `null` if there is none (operation 48). */
export const firstTestingSession = (assessment: string, tester: number) =>
  queryOptions({
    queryKey: ['first-session', assessment, tester],
    async queryFn({ signal }) {
      const query = { 'filter[tester_id][]': [tester], 'page[size]': 200 };
      const { data } = await api.GET('/v1/assessments/{id}/testing_sessions', {
        params: { path: { id: assessment }, query },
        signal,
      });
      return data.at(-1)?.started_at ?? null;
    },
    staleTime: 60_000,
  });

/** Refetches a vulnerability, except the contents of attachments, which never change. */
export function useRefreshVulnerability(id: number): () => void {
  const client = useQueryClient();
  return () => {
    void client.invalidateQueries({
      queryKey: ['vulnerability', id],
      predicate: ({ queryKey }) => queryKey[2] !== 'attachment',
    });
    void client.invalidateQueries({ queryKey: ['summary'] });
  };
}

/** Posts a comment (operation 25). */
export function useCreateComment(id: number) {
  const refresh = useRefreshVulnerability(id);
  return useMutation({
    mutationFn: (body: { text: string; internal: boolean }) =>
      api.POST('/v1/vulnerabilities/{id}/comments', { params: { path: { id } }, body }),
    onSuccess() {
      notify(queryMessages.comment.posted);
      refresh();
    },
  });
}

/** Updates a comment (operation 26). */
export function useEditComment(id: number) {
  const refresh = useRefreshVulnerability(id);
  return useMutation({
    mutationFn: ({ comment, text }: { comment: number; text: string }) =>
      api.PATCH('/v1/vulnerabilities/{id}/comments/{comment_id}', {
        params: { path: { id, comment_id: comment } },
        body: { text },
      }),
    onSuccess() {
      notify(queryMessages.comment.updated);
      refresh();
    },
  });
}

/** Deletes a comment (operation 26). */
export function useDeleteComment(id: number) {
  const refresh = useRefreshVulnerability(id);
  return useMutation({
    mutationFn: (comment: number) =>
      api.DELETE('/v1/vulnerabilities/{id}/comments/{comment_id}', {
        params: { path: { id, comment_id: comment } },
      }),
    onSuccess() {
      notify(queryMessages.comment.deleted);
      refresh();
    },
    onError: (error) => notifyError(queryMessages.comment.deleteFailed, error),
  });
}

/** Requests a retest (operation 28). */
export function useRequestRetest(id: number) {
  const refresh = useRefreshVulnerability(id);
  return useMutation({
    mutationFn: (message: string) =>
      api.POST('/v1/vulnerabilities/{vulnerability_id}/patch_verifications', {
        params: { path: { vulnerability_id: id } },
        body: { message },
      }),
    onSuccess() {
      notify(queryMessages.retest.requested);
      refresh();
    },
  });
}

export type DecidedStatus = Exclude<Retest['status'], 'requested'>;

/** Decides a retest (operation 29). */
export function useDecideRetest(id: number) {
  const refresh = useRefreshVulnerability(id);
  return useMutation({
    mutationFn: ({ retest, status, message }: { retest: number; status: DecidedStatus; message: string }) =>
      api.PATCH('/v1/vulnerabilities/{vulnerability_id}/patch_verifications/{verification_id}', {
        params: { path: { vulnerability_id: id, verification_id: retest } },
        body: { status, ...(message.trim() === '' ? {} : { message }) },
      }),
    onSuccess(_answer, { status }) {
      notify(queryMessages.retest.decided(status));
      refresh();
    },
  });
}
