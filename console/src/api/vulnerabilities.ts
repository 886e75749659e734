import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type {
  ChangeOfEachVulnerability,
  SummaryOfVulnerabilities,
  VulnerabilityFilter,
} from '../../../client/src/description.ts';
import type { Severity } from '../parts/severity-mark.tsx';
import { tell, tellError } from '../parts/notices.tsx';
import { api, pageOf, totalOf, type Vulnerability } from './client.ts';
import { changeRows, type List, PAGE_SIZE, useList } from './list.ts';

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
  'resolved_at',
  'updated_at',
] as const;

export type VulnerabilityRow = Pick<Vulnerability, (typeof ROW_FIELDS)[number]>;

/** Of operation 15, by the names of its members; `sort` beside them. */
export type VulnerabilitySearch = VulnerabilityFilter & { sort?: string };

/** @returns the parameters of operations 15 and 83 for these filters */
export function filterQuery(search: VulnerabilitySearch): Record<string, unknown> {
  const filters = Object.entries(search).filter(([name]) => name !== 'sort');
  return Object.fromEntries(
    filters.map(([name, value]) => [Array.isArray(value) ? `filter[${name}][]` : `filter[${name}]`, value]),
  );
}

const ALL = ['vulnerabilities'] as const;

/** Operation 15: the vulnerabilities that a search finds. */
export function useVulnerabilities(search: VulnerabilitySearch): List<VulnerabilityRow> {
  const query = { ...filterQuery(search), 'filter[include_attachments]': false };
  return useList<VulnerabilityRow>({
    key: [...ALL, search],
    async page(cursor, signal) {
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
      return pageOf<VulnerabilityRow>(answer);
    },
    async count(signal) {
      const { response } = await api.GET('/v1/vulnerabilities', {
        params: { query: { ...query, fields: 'id', 'page[size]': 1 } },
        signal,
      });
      return totalOf(response);
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
      (await api.GET('/v1/vulnerabilities/summary', { params: { query: filterQuery(search) }, signal })).data,
  });

/** One change of operation 30: which ones, and what becomes of them. */
export interface ManyChange {
  ids?: readonly number[];
  /** Instead of `ids`: all that match. */
  filter?: VulnerabilityFilter;
  set: ChangeOfEachVulnerability;
  comment?: string;
  /** How many were seen to match; when others came or went meanwhile nothing is changed. */
  expected?: number;
  /** In words: "Fix In Progress". */
  what: string;
}

const requestOf = ({ ids, filter, set, comment, expected }: ManyChange) => ({
  ...(ids === undefined ? {} : { ids: [...ids] }),
  ...(filter === undefined ? {} : { filter }),
  set,
  ...(comment === undefined || comment === '' ? {} : { comment }),
  ...(expected === undefined ? {} : { expected_count: expected }),
});

/** @returns how many a change would match and change, of which nothing is done */
export async function tryChange(change: ManyChange): Promise<{ matched: number; changed: number }> {
  const { data } = await api.POST('/v1/vulnerabilities/bulk_update', {
    body: { ...requestOf(change), dry_run: true },
  });
  return { matched: data.matched_count, changed: data.updated_count };
}

/**
 * Operation 30 for one or for many: rows that are shown change at once, and back when the server refuses; what happened is
 * told, with the way back.
 */
export function useChangeVulnerabilities() {
  const client = useQueryClient();
  const refresh = (ids: readonly number[] | undefined) => {
    void client.invalidateQueries({ queryKey: ['summary'] });
    for (const id of ids ?? []) void client.invalidateQueries({ queryKey: ['vulnerability', id] });
    // A change by filter is not known row by row; one of a few is shown where it stands, so that the list keeps its place.
    if (ids === undefined) void client.resetQueries({ queryKey: ALL });
  };
  const undo = async (requestId: string, change: ManyChange) => {
    try {
      const { data } = await api.POST('/v1/vulnerabilities/bulk_update', { body: { undo: requestId } });
      const kept = data.kept_count ?? 0;
      tell(
        kept === 0
          ? `${count(data.updated_count)} set back.`
          : `${count(data.updated_count)} set back; ${kept} changed meanwhile and stay.`,
      );
      void client.resetQueries({ queryKey: ALL });
      refresh(change.ids ?? []);
    } catch (error) {
      tellError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: async (change: ManyChange) => {
      const { data, response } = await api.POST('/v1/vulnerabilities/bulk_update', {
        body: requestOf(change),
      });
      return { changed: data.updated_count, requestId: response.headers.get('x-request-id') ?? '' };
    },
    onMutate: async ({ ids, set }: ManyChange) => {
      if (ids === undefined) return undefined;
      const known = await client.ensureQueryData(statuses);
      const former = new Map<number, VulnerabilityRow>();
      const wanted = new Set(ids);
      changeRows<VulnerabilityRow>(client, ALL, (row) => {
        if (!wanted.has(row.id)) return row;
        former.set(row.id, row);
        return changed(row, set, known);
      });
      return former;
    },
    onError(error, { what }, former) {
      if (former !== undefined) changeRows<VulnerabilityRow>(client, ALL, (row) => former.get(row.id) ?? row);
      tellError(`${what} could not be set`, error);
    },
    onSuccess({ changed: number, requestId }, change) {
      refresh(change.ids);
      tell(`${change.what}: ${count(number)} changed.`, {
        undo: () => void undo(requestId, change),
      });
    },
  });
}

function changed(
  row: VulnerabilityRow,
  { status_id, severity, add_tags, remove_tags }: ChangeOfEachVulnerability,
  known: readonly { id: number; name: string }[],
): VulnerabilityRow {
  const name = known.find(({ id }) => id === status_id)?.name;
  const without = row.tags.filter(({ name: tag }) => remove_tags?.includes(tag) !== true);
  const added = (add_tags ?? []).filter((text) => without.every((tag) => tag.name !== text));
  return {
    ...row,
    ...(status_id === undefined || name === undefined ? {} : { status_id, status: name }),
    ...(severity === undefined ? {} : { severity: severity as Severity }),
    tags: [
      ...without,
      ...added.map((text) => ({ id: 0, name: text, editable: true }) as VulnerabilityRow['tags'][number]),
    ],
  };
}

const count = (number: number) =>
  number === 1 ? '1 vulnerability' : `${number.toLocaleString()} vulnerabilities`;
