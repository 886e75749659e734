import { queryOptions } from '@tanstack/react-query';
import type { Organization } from '../../../client/src/openapi-types.ts';
import { api } from './client.ts';

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
