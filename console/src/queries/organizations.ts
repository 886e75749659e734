import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { Organization, OrganizationChange } from '../../../client/src/openapi-types.ts';
import { notify } from '../components/notifications.ts';
import { api } from './client.ts';
import { queryMessages } from './messages.ts';

/** The organizations that the user has access to (operation 61). */
export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  async queryFn({ signal }) {
    const organizations: Organization[] = [];
    const query = { 'page[size]': 200, 'page[after]': '' };
    for await (const organization of api.rows('/v1/organizations', { params: { query }, signal }))
      organizations.push(organization);
    return organizations.toSorted((a, b) => a.name.localeCompare(b.name));
  },
  staleTime: 60_000,
});

export function useUpdateOrganization() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ uid, set }: { uid: string; set: OrganizationChange }) =>
      (await api.PATCH('/v1/organizations/{uid}', { params: { path: { uid } }, body: set })).data,
    async onSuccess() {
      notify(queryMessages.organization.updated);
      // The permissions of every assessment depend on this setting.
      void client.invalidateQueries();
      await client.invalidateQueries({ queryKey: organizationsQuery.queryKey });
    },
  });
}
