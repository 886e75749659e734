import { queryOptions } from '@tanstack/react-query';
import { api, parseTotal } from './client.ts';
import { vulnerabilityFilterParams, type VulnerabilitySearch } from './vulnerabilities.ts';

/** Counts the vulnerabilities that match a search (operation 15). */
export const vulnerabilityTotal = (search: VulnerabilitySearch) =>
  queryOptions({
    queryKey: ['vulnerability-total', search],
    queryFn: async ({ signal }) => {
      const query = { ...vulnerabilityFilterParams(search), fields: 'id', 'page[size]': 1 };
      return parseTotal((await api.GET('/v1/vulnerabilities', { params: { query }, signal })).response);
    },
  });

/** Sums the testing hours since a time, over all visible assessments (operation 41). */
export const hoursSince = (since: string) =>
  queryOptions({
    queryKey: ['hours-since', since],
    async queryFn({ signal }) {
      let hours = 0;
      const query = { 'filter[since]': since, 'page[size]': 200 };
      for await (const session of api.rows('/v1/testing_sessions', { params: { query }, signal }))
        hours += session.hours;
      return hours;
    },
  });

/** Lists running and queued imports, newest first (operation 66). */
export const runningImports = queryOptions({
  queryKey: ['imports', 'running'],
  queryFn: async ({ signal }) =>
    (
      await api.GET('/v1/imports', {
        params: { query: { 'filter[state][]': ['queued', 'running'], 'page[size]': 10 } },
        signal,
      })
    ).data,
  refetchInterval: 10_000,
});
