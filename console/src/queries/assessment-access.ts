import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { User } from '../../../client/src/description.ts';
import { tell, tellError } from '../components/notifications.tsx';
import { api, pageOf } from './client.ts';
import { type List, PAGE_SIZE, useList } from './paged-list.ts';

const keyOf = (uid: string) => ['assessment', uid, 'access'] as const;

/** Operation 40: who was given access to an assessment by name. */
export function useAccess(uid: string): List<User> {
  return useList<User>({
    key: keyOf(uid),
    page: async (cursor, signal) =>
      pageOf<User>(
        await api.GET('/v1/assessments/{id}/users', {
          params: { path: { id: uid }, query: { 'page[size]': PAGE_SIZE, 'page[after]': cursor } },
          signal,
        }),
      ),
  });
}

interface AccessChange {
  person: { id: number; name?: string | null; email: string };
  given: boolean;
}

/** Operation 40: gives access, or takes it; what happened is told, with the way back. */
export function useChangeAccess(uid: string) {
  const client = useQueryClient();
  const send = async ({ person, given }: AccessChange) => {
    await api.PATCH('/v1/assessments/{id}/users', {
      params: { path: { id: uid } },
      body: given ? { add: [person.id] } : { remove: [person.id] },
    });
    await client.invalidateQueries({ queryKey: keyOf(uid) });
    void client.invalidateQueries({ queryKey: ['person', person.id] });
  };
  const undo = async (change: AccessChange) => {
    try {
      await send({ ...change, given: !change.given });
      tell('Set back.');
    } catch (error) {
      tellError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: send,
    onError: (error) => tellError('The access could not be changed', error),
    onSuccess(_none, change) {
      const { person, given } = change;
      const name = person.name ?? person.email;
      tell(given ? `${name} has access.` : `${name} has no access any more.`, {
        undo: () => void undo(change),
      });
    },
  });
}
