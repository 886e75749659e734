import { queryOptions } from '@tanstack/react-query';
import { api } from '../queries/client.ts';

/** Reads the signed-in user. */
export const currentUser = queryOptions({
  queryKey: ['who-am-i'],
  queryFn: async ({ signal }) => (await api.GET('/v1/users/whoami', { signal })).data,
  staleTime: Infinity,
});
