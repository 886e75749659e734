import { queryOptions, useMutation } from '@tanstack/react-query';
import { notify, notifyError } from '../components/notifications.ts';
import { api, type VulnerabilityComment } from './client.ts';
import { useRefreshVulnerability } from './edit-vulnerability.ts';
import { queryMessages } from './messages.ts';

/** Reads all comments, oldest first (operation 24). */
export const commentsQuery = (id: number) =>
  queryOptions({
    queryKey: ['vulnerability', id, 'comments'],
    async queryFn({ signal }) {
      const comments: VulnerabilityComment[] = [];
      const params = { path: { id }, query: { 'page[size]': 200 } };
      for await (const comment of api.rows('/v1/vulnerabilities/{id}/comments', { params, signal }))
        comments.push(comment);
      return comments;
    },
  });

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
    mutationFn: ({ commentId, text }: { commentId: number; text: string }) =>
      api.PATCH('/v1/vulnerabilities/{id}/comments/{comment_id}', {
        params: { path: { id, comment_id: commentId } },
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
    mutationFn: (commentId: number) =>
      api.DELETE('/v1/vulnerabilities/{id}/comments/{comment_id}', {
        params: { path: { id, comment_id: commentId } },
      }),
    onSuccess() {
      notify(queryMessages.comment.deleted);
      refresh();
    },
    onError: (error) => notifyError(queryMessages.comment.deleteFailed, error),
  });
}

const SHOWN_COMMENTS = 3;
const COMMENTS_PAGE_SIZE = 50;

/** Reads the latest of `count` comments, newest first (operation 24). */
export const recentCommentsQuery = (id: number, count: number) =>
  queryOptions({
    queryKey: ['vulnerability', id, 'last-comments', count],
    async queryFn({ signal }) {
      const page = async (number: number) =>
        (
          await api.GET('/v1/vulnerabilities/{id}/comments', {
            params: { path: { id }, query: { 'page[size]': COMMENTS_PAGE_SIZE, 'page[number]': number } },
            signal,
          })
        ).data;
      const last = Math.max(1, Math.ceil(count / COMMENTS_PAGE_SIZE));
      const comments = await page(last);
      const before = comments.length < SHOWN_COMMENTS && last > 1 ? await page(last - 1) : [];
      return [...before, ...comments].slice(-SHOWN_COMMENTS).toReversed();
    },
    enabled: count > 0,
  });
