import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { User } from '../../../client/src/description.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import { api, parsePage } from './client.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

const accessKey = (uid: string) => ['assessment', uid, 'access'] as const;

/** Operation 40: who was given access to an assessment by name. */
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

/** Operation 40: gives access, or takes it; what happened is told, with the way back. */
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
      notify('Set back.');
    } catch (error) {
      notifyError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: send,
    onError: (error) => notifyError('The access could not be changed', error),
    onSuccess(_none, change) {
      const { person, hasAccess } = change;
      const name = person.name ?? person.email;
      notify(hasAccess ? `${name} has access.` : `${name} has no access any more.`, {
        undo: () => void undo(change),
      });
    },
  });
}
