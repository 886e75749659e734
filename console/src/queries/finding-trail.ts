import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { CursorPage } from './client.ts';
import { PAGE_SIZE } from './paged-list.ts';
import { VULNERABILITIES_KEY, type VulnerabilityRow } from './vulnerabilities.ts';

/** The list that a finding was opened from, and where the finding stands in it. */
export interface FindingTrail {
  /** The address of the list. */
  list: string;
  /** The ids of the loaded findings around it, in the order of the list. */
  ids: readonly number[];
  /** The index in the list of the first of the ids. */
  first: number;
  /** Undefined until the list is counted. */
  total?: number | undefined;
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    trail?: FindingTrail | undefined;
  }
}

/** Ids on either side: the browser limits the size of the state. */
const MAX_NEIGHBOURS = 500;

type Pages = InfiniteData<CursorPage<VulnerabilityRow>>;

/** @returns the trail of a finding in the list on the screen; undefined if no list contains it */
export function findTrail(client: QueryClient, id: number, list: string): FindingTrail | undefined {
  const queries = client.getQueryCache().findAll({ queryKey: VULNERABILITIES_KEY, type: 'active' });
  for (const { queryKey, state } of queries) {
    if (queryKey.at(-1) !== 'rows') continue;
    const { pages = [], pageParams = [] } = (state.data ?? {}) as Partial<Pages>;
    const isNumbered = queryKey.at(-2) === 'numbered';
    // Pages that a jump has read are not all next to each other.
    const page = isNumbered ? pages.findIndex(({ rows }) => rows.some((row) => row.id === id)) : 0;
    const rows = isNumbered ? (pages[page]?.rows ?? []) : pages.flatMap((one) => one.rows);
    const index = rows.findIndex((row) => row.id === id);
    if (index < 0) continue;
    const from = Math.max(0, index - MAX_NEIGHBOURS);
    const base = queryKey.slice(0, isNumbered ? -2 : -1);
    const isComplete = !isNumbered && pages.at(-1)?.next === undefined;
    return {
      list,
      ids: rows.slice(from, index + MAX_NEIGHBOURS + 1).map((row) => row.id),
      first: from + (isNumbered ? (Number(pageParams[page]) - 1) * PAGE_SIZE : 0),
      total: isComplete ? rows.length : (client.getQueryData<number>([...base, 'total']) ?? undefined),
    };
  }
  return undefined;
}
