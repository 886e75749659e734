import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { VulnerabilityFilter } from '../../../client/src/openapi-types.ts';
import { api, type CursorPage } from './client.ts';
import { SEVERITIES } from './enums.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';
import { STATUS_IDS } from './statuses.ts';
import {
  fetchVulnerabilities,
  VULNERABILITIES_KEY,
  type VulnerabilityRow,
  type VulnerabilitySearch,
} from './vulnerabilities.ts';

/** The groupings of a list. Assignee and asset are missing: the API has no filter for vulnerabilities without one. */
export const GROUPINGS = ['severity', 'status', 'assessment', 'none'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** A severity, the id of a status, or the uid of an assessment. */
type GroupId = string;

/** Rows with the same value. */
export interface RowGroup {
  id: GroupId;
  /** Index of its first row in the list. */
  index: number;
  count: number;
}

export interface GroupedList {
  list: PagedList<VulnerabilityRow>;
  /** In their order, without empty ones. */
  groups: readonly RowGroup[];
}

/** More assessments are not grouped: each needs a count. */
const MAX_ASSESSMENTS = 50;

/** Reads the uids of the assessments with vulnerabilities, by name; none if there are too many to group by. */
const assessmentGroupsQuery = queryOptions({
  queryKey: ['assessment-groups'],
  queryFn: async ({ signal }) => {
    const query = { sort: 'name' as const, 'page[size]': PAGE_SIZE };
    const { data } = await api.GET('/v1/assessments', { params: { query }, signal });
    const uids = data.filter(({ vulnerability_count: count }) => count > 0).map(({ uid }) => uid);
    return data.length === PAGE_SIZE || uids.length > MAX_ASSESSMENTS ? [] : uids;
  },
  staleTime: 60_000,
});

const FILTERS = { severity: 'severity', status: 'status_id', assessment: 'assessment_id' } as const;

/** @returns the filter of a group, in addition to those of its list */
export const groupFilter = (grouping: Grouping, id: GroupId): VulnerabilityFilter =>
  grouping === 'none' ? {} : { [FILTERS[grouping]]: [grouping === 'status' ? Number(id) : id] };

/** @returns the values that vulnerabilities can have, given the filters of their list; undefined while they load */
function useGroupIds(grouping: Grouping, search: VulnerabilitySearch): readonly GroupId[] | undefined {
  const isByAssessment = grouping === 'assessment' && search.assessment_id === undefined;
  const { data: assessments } = useQuery({ ...assessmentGroupsQuery, enabled: isByAssessment });
  if (grouping === 'none') return [];
  if (isByAssessment) return assessments;
  const wanted = search[FILTERS[grouping]]?.map(String);
  if (grouping === 'assessment') return wanted?.toSorted();
  const all = grouping === 'severity' ? SEVERITIES : STATUS_IDS.map(String);
  return all.filter((id) => wanted?.includes(id) !== false);
}

/** A position in a list of groups: the cursor in the group of this number, and how many of its rows were read. */
interface Position {
  group: number;
  after: string;
  read: number;
}

const FIRST_POSITION: Position = { group: 0, after: '', read: 0 };

type CountedGroup = Pick<RowGroup, 'id' | 'count'>;

/**
 * Lists vulnerabilities by group, one group after the other, each in the order of the search. Results of a text search
 * are grouped only if one page has them all: to count each group would take longer than to search.
 */
export function useGroupedVulnerabilities(search: VulnerabilitySearch, grouping: Grouping): GroupedList {
  const client = useQueryClient();
  const ids = useGroupIds(grouping, search);
  const key = [...VULNERABILITIES_KEY, search, { grouping, ids }];
  const isGrouped = ids !== undefined && ids.length > 0;
  const countsQuery = queryOptions({
    queryKey: [...key, 'counts'],
    queryFn: ({ signal }) => countGroups(search, grouping, ids ?? [], signal),
    enabled: isGrouped && search.search === undefined,
    // A list is consistent with the counts of its beginning.
    staleTime: Infinity,
  });
  const counts: GroupCounts = {
    read: () => client.fetchQuery(countsQuery),
    write: (groups) => void client.setQueryData(countsQuery.queryKey, groups),
  };
  const list = usePagedList<VulnerabilityRow>({
    key,
    ...(!isGrouped
      ? fetchVulnerabilities(search)
      : search.search === undefined
        ? createGroupReader(search, grouping, ids[0] ?? '', counts)
        : createSearchReader(search, grouping, ids)),
    isEnabled: ids !== undefined,
  });
  const { data: counted } = useQuery(countsQuery);
  const groups = useMemo(
    () => (list.isPlaceholder ? [] : layOut(list, counted ?? countLoaded(list))),
    [list, counted],
  );
  return { list, groups };
}

async function countGroups(
  search: VulnerabilitySearch,
  grouping: Grouping,
  ids: readonly GroupId[],
  signal: AbortSignal,
): Promise<CountedGroup[]> {
  const groups = await Promise.all(
    ids.map(async (id) => ({
      id,
      count: await fetchVulnerabilities({ ...search, ...groupFilter(grouping, id) }).fetchTotal(signal),
    })),
  );
  return groups.filter(({ count }) => count > 0);
}

/** The counts of the groups of a list, as they were when its beginning was read or a page in its middle. */
interface GroupCounts {
  read: () => Promise<CountedGroup[]>;
  write: (groups: CountedGroup[]) => void;
}

/** Reads pages of the rows of all groups. */
function createGroupReader(
  search: VulnerabilitySearch,
  grouping: Grouping,
  firstId: GroupId,
  counts: GroupCounts,
) {
  const total = (groups: readonly CountedGroup[]) => groups.reduce((sum, { count }) => sum + count, 0);
  const read = async (
    { id }: Pick<CountedGroup, 'id'>,
    page: { after?: string; number?: number; size: number },
    signal: AbortSignal,
  ) => {
    const { fetchPage } = fetchVulnerabilities({ ...search, ...groupFilter(grouping, id) }, page.size);
    const { rows, next, total: count } = await fetchPage(page.after ?? '', signal, page.number);
    return { rows: rows.map((row) => ({ ...row, group: id })), next, count };
  };

  /** Reads the rows after a position. Groups that have changed since they were counted leave no gap. */
  async function readFrom(
    start: Position,
    groups: readonly CountedGroup[],
    signal: AbortSignal,
    beginning?: ReturnType<typeof read>,
  ) {
    const rows: VulnerabilityRow[] = [];
    let at: Position | undefined = start;
    while (at !== undefined && rows.length < PAGE_SIZE) {
      const slices = planSlices(at, groups, PAGE_SIZE - rows.length);
      const pages = await Promise.all(
        slices.map(({ group, ...page }, index) =>
          beginning !== undefined && at === start && index === 0 && group.id === firstId
            ? beginning
            : read(group, page, signal),
        ),
      );
      let group: number = at.group;
      let alreadyRead: number = at.read;
      at = undefined;
      pages.forEach((page, index) => {
        rows.push(...page.rows);
        const isLast = index === pages.length - 1;
        if (isLast && page.next !== undefined)
          at = { group, after: page.next, read: alreadyRead + page.rows.length };
        else if (isLast && group + 1 < groups.length) at = { group: group + 1, after: '', read: 0 };
        group += 1;
        alreadyRead = 0;
      });
    }
    return { rows, next: at === undefined ? undefined : JSON.stringify(at) };
  }

  /** Reads the rows of a page by its number. Its groups are counted anew. */
  async function readNumbered(number: number, groups: readonly CountedGroup[], signal: AbortSignal) {
    const from = (number - 1) * PAGE_SIZE;
    const newCounts = new Map<GroupId, number>();
    const parts = await Promise.all(
      slicesBetween(from, from + PAGE_SIZE, groups).map(async ({ group, first, last }) => {
        const firstPage = Math.floor(first / PAGE_SIZE);
        const pages = await Promise.all(
          Array.from({ length: Math.ceil(last / PAGE_SIZE) - firstPage }, (_, offset) =>
            read(group, { number: firstPage + offset + 1, size: PAGE_SIZE }, signal),
          ),
        );
        newCounts.set(group.id, pages[0]?.count ?? group.count);
        const start = firstPage * PAGE_SIZE;
        return pages.flatMap(({ rows }) => rows).slice(first - start, last - start);
      }),
    );
    if (groups.some(({ id, count }) => (newCounts.get(id) ?? count) !== count))
      counts.write(groups.map(({ id, count }) => ({ id, count: newCounts.get(id) ?? count })));
    return { rows: parts.flat(), next: undefined };
  }

  const withTotal = async (page: Omit<CursorPage<VulnerabilityRow>, 'total'>) => ({
    ...page,
    total: total(await counts.read()),
  });
  return {
    async fetchPage(
      cursor: string,
      signal: AbortSignal,
      number?: number,
    ): Promise<CursorPage<VulnerabilityRow>> {
      if (number !== undefined) return withTotal(await readNumbered(number, await counts.read(), signal));
      if (cursor !== '')
        return withTotal(await readFrom(JSON.parse(cursor) as Position, await counts.read(), signal));
      // Most lists begin with rows of the first group: reads them while the groups are counted.
      const beginning = read({ id: firstId }, { size: PAGE_SIZE }, signal);
      const [groups] = await Promise.all([counts.read(), beginning]);
      return withTotal(await readFrom(FIRST_POSITION, groups, signal, beginning));
    },
    fetchTotal: async () => total(await counts.read()),
  };
}

const groupOf = (grouping: Grouping, row: VulnerabilityRow): GroupId =>
  grouping === 'severity' ? row.severity : grouping === 'status' ? String(row.status_id) : row.assessment_id;

/** Reads the results of a text search, and groups them if the first page has them all. */
function createSearchReader(search: VulnerabilitySearch, grouping: Grouping, ids: readonly GroupId[]) {
  const reader = fetchVulnerabilities(search);
  const fetchPage: typeof reader.fetchPage = async (cursor, signal, number) => {
    const page = await reader.fetchPage(cursor, signal, number);
    const rows = ids.flatMap((id) =>
      page.rows.filter((row) => groupOf(grouping, row) === id).map((row) => ({ ...row, group: id })),
    );
    const isBeginning = cursor === '' && number === undefined;
    return isBeginning && page.next === undefined && rows.length === page.rows.length
      ? { ...page, rows }
      : page;
  };
  return { ...reader, fetchPage };
}

/** @returns the parallel requests that read the next `size` rows */
function planSlices({ group: first, after, read }: Position, groups: readonly CountedGroup[], size: number) {
  const slices: { group: CountedGroup; after: string; size: number }[] = [];
  let rest = size;
  for (const [index, group] of groups.slice(first).entries()) {
    if (rest <= 0) break;
    const isFirst = index === 0;
    const expected = Math.max(1, group.count - (isFirst ? read : 0));
    const count = Math.min(rest, expected);
    slices.push({ group, after: isFirst ? after : '', size: count });
    rest -= count;
  }
  return slices;
}

/** @returns the rows of each group between two indexes of the whole list */
function slicesBetween(from: number, to: number, groups: readonly CountedGroup[]) {
  let start = 0;
  return groups.flatMap((group) => {
    const first = Math.max(0, from - start);
    const last = Math.min(group.count, to - start);
    start += group.count;
    return first < last ? [{ group, first, last }] : [];
  });
}

/** @returns the groups of a list whose rows have all loaded */
function countLoaded({ rowAt, total }: PagedList<VulnerabilityRow>): CountedGroup[] {
  const counts = new Map<GroupId, number>();
  for (let index = 0; index < total && index < PAGE_SIZE; index += 1) {
    const id = rowAt(index)?.group;
    if (id === undefined) return [];
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts].map(([id, count]) => ({ id, count }));
}

/** @returns the groups with the indexes of their first rows: where rows have loaded by them, else by the counts */
function layOut({ rowAt, total }: PagedList<VulnerabilityRow>, counted: readonly CountedGroup[]): RowGroup[] {
  let index = 0;
  return counted.map(({ id, count }) => {
    const group = { id, index, count };
    let end = index;
    while (end < total && rowAt(end)?.group === id) end += 1;
    index = end < total && rowAt(end) === undefined ? Math.max(end, index + count) : end;
    return group;
  });
}
