import { queryOptions } from '@tanstack/react-query';
import type { SummaryOfVulnerabilities, VulnerabilityFilter } from '../../../client/src/description.ts';
import { api, parsePage, parseTotal, type Vulnerability } from './client.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

/** What the table shows of each, and what deciding on it needs. */
const ROW_FIELDS = [
  'id',
  'title',
  'severity',
  'status_id',
  'status',
  'vulnerability_status',
  'listing',
  'assessment_id',
  'assignee',
  'due_on',
  'source',
  'tags',
  'comment_count',
  'cvss_score',
  'cve_ids',
  'resolved_at',
  'updated_at',
  'gone_at',
] as const;

export type VulnerabilityRow = Pick<Vulnerability, (typeof ROW_FIELDS)[number]>;

/** Of operation 15, by the names of its members; `sort` beside them. */
export type VulnerabilitySearch = VulnerabilityFilter & { sort?: string };

/** @returns the parameters of operations 15 and 83 for these filters */
export function vulnerabilityFilterParams(search: VulnerabilitySearch): Record<string, unknown> {
  const filters = Object.entries(search).filter(([name]) => name !== 'sort');
  return Object.fromEntries(
    filters.map(([name, value]) => [Array.isArray(value) ? `filter[${name}][]` : `filter[${name}]`, value]),
  );
}

/** How the key of every list of vulnerabilities begins; the search follows. */
export const VULNERABILITIES_KEY = ['vulnerabilities'] as const;

/** Operation 15: the vulnerabilities that a search finds. */
export function useVulnerabilities(search: VulnerabilitySearch): PagedList<VulnerabilityRow> {
  const query = { ...vulnerabilityFilterParams(search), 'filter[include_attachments]': false };
  return usePagedList<VulnerabilityRow>({
    key: [...VULNERABILITIES_KEY, search],
    async fetchPage(cursor, signal) {
      const answer = await api.GET('/v1/vulnerabilities', {
        params: {
          query: {
            ...query,
            ...(search.sort === undefined ? {} : { sort: search.sort as 'title' }),
            fields: ROW_FIELDS.join(','),
            'page[size]': PAGE_SIZE,
            'page[after]': cursor,
          },
        },
        signal,
      });
      return parsePage<VulnerabilityRow>(answer);
    },
    async fetchTotal(signal) {
      const { response } = await api.GET('/v1/vulnerabilities', {
        params: { query: { ...query, fields: 'id', 'page[size]': 1 } },
        signal,
      });
      return parseTotal(response);
    },
  });
}

/** Operation 16. */
export const vulnerability = (id: number) =>
  queryOptions({
    queryKey: ['vulnerability', id],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET('/v1/vulnerabilities/{id}', {
        params: { path: { id } },
        signal,
      });
      return { ...data, version: response.headers.get('etag') ?? '*' };
    },
  });

/** Operation 17. */
export const statuses = queryOptions({
  queryKey: ['statuses'],
  queryFn: async ({ signal }) => (await api.GET('/v1/vulnerability_statuses', { signal })).data,
  staleTime: Infinity,
});

/** Operation 83. */
export const summary = (search: VulnerabilitySearch) =>
  queryOptions({
    queryKey: ['summary', search],
    queryFn: async ({ signal }): Promise<SummaryOfVulnerabilities> =>
      (
        await api.GET('/v1/vulnerabilities/summary', {
          params: { query: vulnerabilityFilterParams(search) },
          signal,
        })
      ).data,
  });
