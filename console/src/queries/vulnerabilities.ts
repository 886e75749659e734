import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query';
import type { SummaryOfVulnerabilities, VulnerabilityFilter } from '../../../client/src/openapi-types.ts';
import {
  api,
  pageStart,
  parsePage,
  parseTotal,
  type TimelineEntry,
  type Vulnerability,
  type VulnerabilityRights,
} from './client.ts';
import { PHASES } from './enums.ts';
import { PAGE_SIZE } from './paged-list.ts';

/** Fields that the table shows and that edits need. */
const ROW_FIELDS = [
  'id',
  'title',
  'severity',
  'status_id',
  'status',
  'vulnerability_status',
  'listing',
  'assessment_id',
  'organization_profile_id',
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
  'reported_by_staff',
  'draft',
  'outside_scope',
] as const;

export type VulnerabilityRow = Pick<Vulnerability, (typeof ROW_FIELDS)[number]> & {
  /** The group of a grouped list that it was read for. */
  group?: string;
};

/** Filters and order of operation 15. */
export type VulnerabilitySearch = VulnerabilityFilter & { sort?: string };

export const OPEN_SEARCH: VulnerabilitySearch = { phase: ['new', 'open'] };

/** @returns the address of the list that shows the same as a search; without a phase, an address shows open ones */
export const listAddress = (search: VulnerabilitySearch): VulnerabilitySearch =>
  search.draft === true ? search : { ...search, phase: search.phase ?? [...PHASES] };

/** Filter parameters of operations 15 and 83. */
export function vulnerabilityFilterParams(search: VulnerabilitySearch): Record<string, unknown> {
  const filters = Object.entries(search).filter(([name]) => name !== 'sort');
  return Object.fromEntries(
    filters.map(([name, value]) => [Array.isArray(value) ? `filter[${name}][]` : `filter[${name}]`, value]),
  );
}

/** Prefix of the query keys of all lists of vulnerabilities; the search follows it. */
export const VULNERABILITIES_KEY = ['vulnerabilities'] as const;

/** Reads pages of vulnerabilities (operation 15). */
export function fetchVulnerabilities(search: VulnerabilitySearch, pageSize = PAGE_SIZE) {
  const query = { ...vulnerabilityFilterParams(search), 'filter[include_attachments]': false };
  return {
    async fetchPage(cursor: string, signal: AbortSignal, number?: number) {
      const page = await api.GET('/v1/vulnerabilities', {
        params: {
          query: {
            ...query,
            ...(search.sort === undefined ? {} : { sort: search.sort as 'title' }),
            fields: ROW_FIELDS.join(','),
            'page[size]': pageSize,
            ...pageStart(cursor, number),
          },
        },
        signal,
      });
      return parsePage<VulnerabilityRow>(page);
    },
    async fetchTotal(signal: AbortSignal) {
      const { response } = await api.GET('/v1/vulnerabilities', {
        params: { query: { ...query, fields: 'id', 'page[size]': 1 } },
        signal,
      });
      return parseTotal(response);
    },
  };
}

/** Reads a vulnerability (operation 16). */
export const vulnerabilityQuery = (id: number) =>
  queryOptions({
    queryKey: ['vulnerability', id],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET('/v1/vulnerabilities/{id}', {
        params: { path: { id } },
        signal,
      });
      // Operation 16 always has it.
      const may = data.may as VulnerabilityRights;
      return { ...data, may, version: response.headers.get('etag') ?? '*' };
    },
  });

/** Lists the vulnerability statuses (operation 17). */
export const statusesQuery = queryOptions({
  queryKey: ['statuses'],
  queryFn: async ({ signal }) => (await api.GET('/v1/vulnerability_statuses', { signal })).data,
  staleTime: Infinity,
});

export type VulnerabilityStatus = NonNullable<
  Awaited<ReturnType<NonNullable<typeof statusesQuery.queryFn>>>
>[number];

/** @returns the members of a vulnerability that depend on its status */
export const statusMembers = (
  { id, name, flow_type, flow_position }: VulnerabilityStatus,
  current: Vulnerability['vulnerability_status'],
): Pick<Vulnerability, 'status_id' | 'status' | 'vulnerability_status'> => ({
  status_id: id,
  status: name,
  vulnerability_status: { ...current, id, text: name, flow_type, flow_position },
});

/** Reads the counts by severity, age and day (operation 83). */
export const summaryQuery = (search: VulnerabilitySearch) =>
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

/** Whether the status is a closed one, which is never overdue or to be decided. */
export const isClosed = ({
  vulnerability_status: { flow_type },
}: Pick<Vulnerability, 'vulnerability_status'>) => flow_type === 2;

/** Counts the vulnerabilities that match a search (operation 15). */
export const vulnerabilityTotalQuery = (search: VulnerabilitySearch) =>
  queryOptions({
    queryKey: ['vulnerability-total', search],
    queryFn: async ({ signal }) => {
      const query = { ...vulnerabilityFilterParams(search), fields: 'id', 'page[size]': 1 };
      return parseTotal((await api.GET('/v1/vulnerabilities', { params: { query }, signal })).response);
    },
  });

/** Refetches all numbers of vulnerabilities. */
export function refreshCounts(client: QueryClient): void {
  for (const key of ['summary', 'vulnerability-total', 'active-assessments'])
    void client.invalidateQueries({ queryKey: [key] });
}

const TIMELINE_PAGE_SIZE = 50;

/** Reads the timeline by page, newest first (operation 31). */
export const timelineQuery = (id: number) =>
  infiniteQueryOptions({
    queryKey: ['vulnerability', id, 'timeline'],
    async queryFn({ pageParam, signal }) {
      const query = { 'page[size]': TIMELINE_PAGE_SIZE, 'page[after]': pageParam, sort: '-at' as const };
      const params = { path: { id }, query };
      return parsePage<TimelineEntry>(await api.GET('/v1/vulnerabilities/{id}/timeline', { params, signal }));
    },
    initialPageParam: '',
    getNextPageParam: (last) => last.next,
  });
