import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ListedUser, NewUser, User, UserChange } from '../../../client/src/description.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import { api, parsePage, parseTotal } from './client.ts';
import { updateCachedRows, type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

/** Where somebody stands: who uses it, who has not accepted the invitation, who is banned. */
export const PERSON_STATES = ['active', 'invited', 'banned'] as const;
export type PersonState = (typeof PERSON_STATES)[number];

/** Of operation 53. */
export interface PeopleSearch {
  search?: string;
  state?: PersonState;
  organization_uid?: string[];
}

const PEOPLE_KEY = ['people-list'] as const;

const STATE_FILTERS = {
  active: { 'filter[banned]': false, 'filter[invited]': false },
  invited: { 'filter[banned]': false, 'filter[invited]': true },
  banned: { 'filter[banned]': true },
} as const;

/** Operation 53: the client users that an admin reaches; the banned are shown where they are asked for. */
export function usePeople({ search, state, organization_uid }: PeopleSearch): PagedList<ListedUser> {
  const query = {
    ...(search === undefined ? {} : { 'filter[search]': search }),
    ...(state === undefined ? {} : STATE_FILTERS[state]),
    ...(organization_uid === undefined ? {} : { 'filter[organization_uid][]': organization_uid }),
  };
  return usePagedList<ListedUser>({
    key: [...PEOPLE_KEY, query],
    fetchPage: async (cursor, signal) =>
      parsePage<ListedUser>(
        await api.GET('/v1/users', {
          params: { query: { ...query, 'page[size]': PAGE_SIZE, 'page[after]': cursor } },
          signal,
        }),
      ),
    fetchTotal: async (signal) =>
      parseTotal(
        (await api.GET('/v1/users', { params: { query: { ...query, 'page[size]': 1 } }, signal })).response,
      ),
  });
}

/** Operation 55. */
export const person = (id: number) =>
  queryOptions({
    queryKey: ['person', id],
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/users/{id}', { params: { path: { id } }, signal })).data,
  });

/** Finds people by name or address, for a field that one of them is chosen in. */
export async function findPeople(
  search: string,
  signal: AbortSignal,
  organization?: string,
): Promise<ListedUser[]> {
  const { data } = await api.GET('/v1/users', {
    params: {
      query: {
        'filter[search]': search,
        'page[size]': 20,
        ...(organization === undefined ? {} : { 'filter[organization_uid][]': [organization] }),
      },
    },
    signal,
  });
  return data;
}

/** @returns the one with exactly this address, where there is one */
export async function findPersonByEmail(
  address: string,
  signal: AbortSignal,
  organization?: string,
): Promise<ListedUser | undefined> {
  const found = await findPeople(address, signal, organization);
  return found.find(({ email }) => email.toLowerCase() === address.toLowerCase());
}

/** @returns how a person is called */
export const personName = ({ name, email }: { name?: string | null; email: string }): string => name ?? email;

interface PersonUpdate {
  person: User;
  set: UserChange;
  /** What is told of it: "Ada is an admin." */
  message: string;
  /** What sets it back. */
  revert?: UserChange;
}

/** Operation 56: shown at once, taken back on refusal; what happened is told, with the way back. */
export function useUpdatePerson() {
  const client = useQueryClient();
  const show = (user: User) => {
    client.setQueryData(person(user.id).queryKey, user);
    updateCachedRows<ListedUser>(client, PEOPLE_KEY, (row) =>
      row.id === user.id ? { ...row, ...user } : row,
    );
  };
  const send = async (id: number, set: UserChange) => {
    const { data } = await api.PUT('/v1/users/{id}', { params: { path: { id } }, body: set });
    show(data);
    void client.invalidateQueries({ queryKey: PEOPLE_KEY });
    return data;
  };
  const undo = async (id: number, set: UserChange) => {
    try {
      await send(id, set);
      notify('Set back.');
    } catch (error) {
      notifyError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: ({ person: { id }, set }: PersonUpdate) => send(id, set),
    onMutate({ person: former, set: { admin } }: PersonUpdate) {
      if (admin !== undefined) show({ ...former, admin });
    },
    onError(error, { person: former }) {
      show(former);
      notifyError(`${personName(former)} could not be changed`, error);
    },
    onSuccess(_now, { person: { id }, message, revert }) {
      notify(message, revert === undefined ? {} : { undo: () => void undo(id, revert) });
    },
  });
}

/** Operation 6. Who never signed in is gone with it. */
export function useBanPerson() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id }: User) => api.DELETE('/v1/users/{id}', { params: { path: { id } } }),
    onSuccess(_none, banned) {
      if (banned.invite_url === null || banned.invite_url === undefined)
        void client.invalidateQueries({ queryKey: ['person', banned.id] });
      void client.resetQueries({ queryKey: PEOPLE_KEY });
      notify(`${personName(banned)} is banned.`);
    },
  });
}

/** Operation 54; the answer has the link. */
export function useInvitePerson() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: NewUser) => (await api.POST('/v1/users', { body })).data,
    onSuccess({ email }) {
      void client.resetQueries({ queryKey: PEOPLE_KEY });
      notify(`${email} is invited.`);
    },
  });
}
