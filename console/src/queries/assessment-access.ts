import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { User } from '../../../client/src/openapi-types.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import { api, parsePage } from './client.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';
import { commonMessages } from '../components/messages.ts';
import { queryMessages } from './messages.ts';

const accessKey = (uid: string) => ['assessment', uid, 'access'] as const;

/** Lists the users with direct access to an assessment (operation 40). */
export function useAccess(uid: string): PagedList<User> {
  return usePagedList<User>({
    key: accessKey(uid),
    fetchPage: async (cursor, signal) =>
      parsePage<User>(
        await api.GET('/v1/assessments/{id}/users', {
          params: { path: { id: uid }, query: { 'page[size]': PAGE_SIZE, 'page[after]': cursor } },
          signal,
        }),
      ),
  });
}

interface AccessChange {
  person: { id: number; name?: string | null; email: string };
  hasAccess: boolean;
}

/** Gives or removes access (operation 40), with undo. */
export function useUpdateAccess(uid: string) {
  const client = useQueryClient();
  const send = async ({ person, hasAccess }: AccessChange) => {
    await api.PATCH('/v1/assessments/{id}/users', {
      params: { path: { id: uid } },
      body: hasAccess ? { add: [person.id] } : { remove: [person.id] },
    });
    await client.invalidateQueries({ queryKey: accessKey(uid) });
    void client.invalidateQueries({ queryKey: ['person', person.id] });
  };
  const undo = async (change: AccessChange) => {
    try {
      await send({ ...change, hasAccess: !change.hasAccess });
      notify(commonMessages.undone);
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  return useMutation({
    mutationFn: send,
    onError: (error) => notifyError(queryMessages.access.failed, error),
    onSuccess(_none, change) {
      const { person, hasAccess } = change;
      const name = person.name ?? person.email;
      notify(hasAccess ? queryMessages.access.given(name) : queryMessages.access.removed(name), {
        undo: () => void undo(change),
      });
    },
  });
}
