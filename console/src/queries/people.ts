import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ListedUser, NewUser, User, UserChange } from '../../../client/src/openapi-types.ts';
import { notify, notifyError } from '../components/notifications.ts';
import { api } from './client.ts';
import { updateCachedRows, type PagedList, usePagedList, v1Pages } from './paged-list.ts';
import { commonMessages } from '../components/messages.ts';
import { queryMessages } from './messages.ts';

export type PersonState = keyof typeof STATE_FILTERS;

/** Filters of operation 53. */
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

/** Lists client users (operation 53); banned ones only with that filter. */
export function usePeople({ search, state, organization_uid }: PeopleSearch): PagedList<ListedUser> {
  const query = {
    ...(search === undefined ? {} : { 'filter[search]': search }),
    ...(state === undefined ? {} : STATE_FILTERS[state]),
    ...(organization_uid === undefined ? {} : { 'filter[organization_uid][]': organization_uid }),
  };
  return usePagedList<ListedUser>({
    key: [...PEOPLE_KEY, query],
    ...v1Pages((page, signal) => api.GET('/v1/users', { params: { query: { ...query, ...page } }, signal })),
  });
}

/** Reads a user (operation 55). */
export const personQuery = (id: number) =>
  queryOptions({
    queryKey: ['person', id],
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/users/{id}', { params: { path: { id } }, signal })).data,
  });

/** Searches users by name or email address. */
export async function findPeople(
  search: string,
  signal: AbortSignal,
  organizationUid?: string,
): Promise<ListedUser[]> {
  const { data } = await api.GET('/v1/users', {
    params: {
      query: {
        'filter[search]': search,
        'page[size]': 20,
        ...(organizationUid === undefined ? {} : { 'filter[organization_uid][]': [organizationUid] }),
      },
    },
    signal,
  });
  return data;
}

/** Finds the user with exactly this email address. */
export async function findPersonByEmail(
  address: string,
  signal: AbortSignal,
  organizationUid?: string,
): Promise<ListedUser | undefined> {
  const people = await findPeople(address, signal, organizationUid);
  return people.find(({ email }) => email.toLowerCase() === address.toLowerCase());
}

/** @returns a name with the email address: "Ada (ada@acme.example)" */
export const personLabel = ({ name, email }: { name?: string | null; email: string }): string =>
  name == null ? email : `${name} (${email})`;

export const personName = ({ name, email }: { name?: string | null; email: string }): string => name ?? email;

interface PersonUpdate {
  person: User;
  set: UserChange;
  /** Shown on success. */
  message: string;
  /** The update that undoes this one. */
  revert?: UserChange;
}

/** Updates a user (operation 56), the role optimistically, with undo. */
export function useUpdatePerson() {
  const client = useQueryClient();
  const show = (user: User) => {
    client.setQueryData(personQuery(user.id).queryKey, user);
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
      notify(commonMessages.undone);
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  return useMutation({
    mutationFn: ({ person: { id }, set }: PersonUpdate) => send(id, set),
    onMutate({ person: previous, set: { admin } }: PersonUpdate) {
      if (admin !== undefined) show({ ...previous, admin });
    },
    onError(error, { person: previous }) {
      show(previous);
      notifyError(queryMessages.updateFailed(personName(previous)), error);
    },
    onSuccess(_now, { person: { id }, message, revert }) {
      notify(message, revert === undefined ? {} : { undo: () => void undo(id, revert) });
    },
  });
}

/** Bans a user (operation 6). A user who never signed in is deleted. */
export function useBanPerson() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id }: User) => api.DELETE('/v1/users/{id}', { params: { path: { id } } }),
    onSuccess(_none, banned) {
      if (banned.invite_url === null || banned.invite_url === undefined)
        void client.invalidateQueries({ queryKey: ['person', banned.id] });
      void client.resetQueries({ queryKey: PEOPLE_KEY });
      notify(queryMessages.person.banned(personName(banned)));
    },
  });
}

/** Invites a user (operation 54); the response contains the invitation link. */
export function useInvitePerson() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: NewUser) => (await api.POST('/v1/users', { body })).data,
    onSuccess({ email }) {
      void client.resetQueries({ queryKey: PEOPLE_KEY });
      notify(queryMessages.person.invited(email));
    },
  });
}
