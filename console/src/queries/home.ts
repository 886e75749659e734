import { queryOptions } from '@tanstack/react-query';
import type { Vulnerability } from '../../../client/src/openapi-types.ts';
import { api, type Asset, type ImportJob, parseTotal, type TestingSession } from './client.ts';
import { medianDays } from './median-days.ts';
import { PAGE_SIZE } from './paged-list.ts';
import { vulnerabilityFilterParams, type VulnerabilitySearch } from './vulnerabilities.ts';

/** Rows of a section. */
export const SECTION_ROWS = 3;
const DAY_MS = 86_400_000;
const QUARTER_SECONDS = (90 * DAY_MS) / 1_000;

/** Fields that a section shows. */
const FIELDS = [
  'id',
  'title',
  'severity',
  'status_id',
  'vulnerability_status',
  'assessment_id',
  'organization_profile_id',
  'assignee',
  'created_by',
  'created_at',
  'updated_at',
  'due_on',
  'gone_at',
  'reported_by_staff',
] as const;

export type SectionRow = Pick<Vulnerability, (typeof FIELDS)[number]>;

/** Reads the first matches of a search and counts all (operation 15). */
export const firstVulnerabilitiesQuery = ({ sort, ...search }: VulnerabilitySearch) =>
  queryOptions({
    // Changes of vulnerabilities refetch it with the totals.
    queryKey: ['vulnerability-total', search, sort, 'first'],
    async queryFn({ signal }) {
      const query = {
        ...vulnerabilityFilterParams(search),
        ...(sort === undefined ? {} : { sort: sort as 'title' }),
        fields: FIELDS.join(','),
        'page[size]': SECTION_ROWS,
      };
      const { data, response } = await api.GET('/v1/vulnerabilities', { params: { query }, signal });
      return { rows: data as readonly SectionRow[], total: parseTotal(response) };
    },
  });

/**
 * Reads the median number of days from report to fix, of the findings fixed within 90 days; `null` if there are none,
 * or more than a page.
 */
export const daysToFixQuery = (search: VulnerabilitySearch) =>
  queryOptions({
    queryKey: ['vulnerability-total', search, 'days-to-fix'],
    async queryFn({ signal }) {
      const query = {
        ...vulnerabilityFilterParams({ ...search, status_id: [5], updated_within: QUARTER_SECONDS }),
        fields: 'created_at,closed_at',
        'page[size]': PAGE_SIZE,
      };
      const { data, response } = await api.GET('/v1/vulnerabilities', { params: { query }, signal });
      return parseTotal(response) > PAGE_SIZE ? null : medianDays(data);
    },
  });

/** Counts drafts by the id of their organization; `null` if there are more than a page. */
export const draftsByOrganizationQuery = queryOptions({
  queryKey: ['vulnerability-total', 'drafts-by-organization'],
  async queryFn({ signal }) {
    const query = { 'filter[draft]': true, fields: 'organization_profile_id', 'page[size]': PAGE_SIZE };
    const { data, response } = await api.GET('/v1/vulnerabilities', { params: { query }, signal });
    if (parseTotal(response) > PAGE_SIZE) return null;
    const counts = new Map<number, number>();
    for (const { organization_profile_id: id } of data) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  },
});

/** Reads the organizations of assessments, by uid. */
export const organizationsOfAssessmentsQuery = queryOptions({
  queryKey: ['assessment-organizations'],
  async queryFn({ signal }) {
    const query = { sort: '-created_at' as const, 'page[size]': PAGE_SIZE };
    const { data } = await api.GET('/v1/assessments', { params: { query }, signal });
    return new Map(data.map(({ uid, organization_uid }) => [uid, organization_uid]));
  },
  staleTime: 300_000,
});

/** Reads the running sessions of all visible assessments (operation 41). */
export const allRunningSessionsQuery = queryOptions({
  queryKey: ['hours-since', 'running'],
  queryFn: async ({ signal }): Promise<readonly TestingSession[]> =>
    (
      await api.GET('/v1/testing_sessions', {
        params: { query: { 'filter[running]': true, 'page[size]': 10 } },
        signal,
      })
    ).data,
});

/** Reads the sessions since a time, over all visible assessments (operation 41). */
export const sessionsSinceQuery = (since: string) =>
  queryOptions({
    queryKey: ['hours-since', since],
    async queryFn({ signal }) {
      const sessions: TestingSession[] = [];
      const query = { 'filter[since]': since, 'page[size]': PAGE_SIZE };
      for await (const session of api.rows('/v1/testing_sessions', { params: { query }, signal }))
        sessions.push(session);
      return sessions;
    },
  });

/** Days in which a failed import or a new host is shown. */
const RECENT_DAYS = 7;
const MAX_FAILED = 20;

/** Reads the imports that failed in the last week, newest first (operation 66). */
export const failedImportsQuery = queryOptions({
  queryKey: ['imports', 'failed'],
  async queryFn({ signal }): Promise<readonly ImportJob[]> {
    const query = {
      'filter[state][]': ['failed' as const],
      'filter[dry_run]': false,
      'page[size]': MAX_FAILED,
    };
    const { data } = await api.GET('/v1/imports', { params: { query }, signal });
    const since = Date.now() - RECENT_DAYS * DAY_MS;
    return data.filter(({ created_at }) => Date.parse(created_at) >= since);
  },
});

export type NewHost = Pick<Asset, 'uid' | 'name' | 'location' | 'createdAt' | 'openPortCount'>;

/** Reads the newest hosts of the last week, and counts all (operation 75). */
export const newHostsQuery = queryOptions({
  queryKey: ['assets', 'new-hosts'],
  async queryFn({ signal }) {
    const query = {
      'assetType[]': ['host' as const],
      createdSince: new Date(Date.now() - RECENT_DAYS * DAY_MS).toISOString(),
      sort: 'createdAt' as const,
      sortDir: 'desc' as const,
      fields: 'uid,name,location,createdAt,openPortCount',
      perPage: SECTION_ROWS,
    };
    const { data, response } = await api.GET('/api/asset/v2/assets', { params: { query }, signal });
    return { rows: data as readonly NewHost[], total: parseTotal(response) };
  },
});
