import {
  hashKey,
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  type UseInfiniteQueryResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { type CursorPage, parsePage, parseTotal } from './client.ts';
import { FIRST_RETRIES, isFirstRetry, isTransient } from './retry.ts';

/** The maximum of the V1 lists. */
export const PAGE_SIZE = 200;

/** A list of the API, loaded page by page with a cursor. */
export interface PagedList<Row> {
  /** Changes with the filters and the order. */
  listId: string;
  /** The server's count, and at least the number of loaded rows. */
  total: number;
  /** Whether `total` is known; until then there are more than `loadedCount`. */
  isCounted: boolean;
  loadedCount: number;
  rowAt: (index: number) => Row | undefined;
  /** Loads further pages until the row with this index is loaded. */
  loadUntil: (index: number) => void;
  isPending: boolean;
  /** Whether the rows are still those of the previous list. */
  isPlaceholder: boolean;
  error: Error | null;
  /** Repeats the failed request. */
  retry: () => void;
}

interface ListOptions<Row> {
  /** The query key; contains everything that the rows depend on. */
  key: readonly unknown[];
  /** Reads the page at a cursor; the first page has an empty one. */
  fetchPage: (cursor: string, signal: AbortSignal) => Promise<CursorPage<Row>>;
  /** Counts all rows, if the API can. */
  fetchTotal?: (signal: AbortSignal) => Promise<number>;
  pageSize?: number;
}

interface PageParams {
  'page[size]': number;
  'page[after]'?: string;
}

/**
 * Reads the pages and the count of a V1 list.
 * @param get requests the list with the parameters of a page
 */
export const v1Pages = <Row>(
  get: (page: PageParams, signal: AbortSignal) => Promise<{ data: readonly Row[]; response: Response }>,
): Pick<ListOptions<Row>, 'fetchPage' | 'fetchTotal'> => ({
  fetchPage: async (cursor, signal) =>
    parsePage(await get({ 'page[size]': PAGE_SIZE, 'page[after]': cursor }, signal)),
  fetchTotal: async (signal) => parseTotal((await get({ 'page[size]': 1 }, signal)).response),
});

type Pages<Row> = InfiniteData<CursorPage<Row>, string>;

/** Milliseconds; counts only once the user has stopped typing. */
const COUNT_DEBOUNCE = 300;

export function usePagedList<Row>({
  key,
  fetchPage,
  fetchTotal,
  pageSize = PAGE_SIZE,
}: ListOptions<Row>): PagedList<Row> {
  const client = useQueryClient();
  const queryKey = [...key, 'rows'];
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next,
    // Reloading many pages in the background would be expensive.
    staleTime: Infinity,
    structuralSharing: false,
    placeholderData: keepPreviousData,
    // A further page that fails is repeated alone; after an error, the query would read all pages again.
    retry: (count, error) =>
      client.getQueryData(queryKey) === undefined ? isFirstRetry(count, error) : isTransient(error),
  });
  const listId = hashKey(key);
  const [debouncedId] = useDebouncedValue(listId, COUNT_DEBOUNCE);
  const totalQuery = useQuery({
    queryKey: [...key, 'total'],
    queryFn: ({ signal }) => fetchTotal?.(signal) ?? null,
    // Counting may be slower than reading: it starts after the rows, and only if there are further pages.
    enabled:
      fetchTotal !== undefined && debouncedId === listId && query.hasNextPage && !query.isPlaceholderData,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  const error = useLastError(query);
  const isPlaceholder = query.isPlaceholderData;
  const isPending = query.isPending && error === null;
  const data = isPlaceholder && error !== null ? undefined : query.data;
  const total = totalQuery.data ?? 0;
  const isCounted = !hasNextPage || (totalQuery.data !== undefined && !totalQuery.isPlaceholderData);
  return useMemo(() => {
    const pages = data?.pages ?? [];
    const loadedCount = Math.max(0, (pages.length - 1) * pageSize) + (pages.at(-1)?.rows.length ?? 0);
    return {
      listId,
      total: hasNextPage ? Math.max(total, loadedCount + 1) : loadedCount,
      isCounted,
      loadedCount,
      rowAt: (index) => pages[Math.floor(index / pageSize)]?.rows[index % pageSize],
      loadUntil(index) {
        if (index >= loadedCount && hasNextPage && !isFetchingNextPage && !isPlaceholder && error === null)
          void fetchNextPage();
      },
      isPending,
      isPlaceholder,
      error,
      retry: () => void (loadedCount > 0 ? fetchNextPage() : refetch()),
    };
  }, [
    data,
    total,
    isCounted,
    hasNextPage,
    isFetchingNextPage,
    fetchNextPage,
    refetch,
    isPending,
    isPlaceholder,
    error,
    pageSize,
    listId,
  ]);
}

/** @returns the error of a query, also while a failed request is repeated */
function useLastError({
  error,
  failureCount,
  failureReason,
  isPending,
  isPlaceholderData,
}: UseInfiniteQueryResult): Error | null {
  const [last, setLast] = useState<Error | null>(null);
  const current =
    error ?? (failureCount > FIRST_RETRIES ? failureReason : isPending || isPlaceholderData ? last : null);
  if (current !== last) setLast(current);
  return current;
}

export const loadedRows = <Row>({ loadedCount, rowAt }: PagedList<Row>): Row[] =>
  Array.from({ length: loadedCount }, (_, index) => rowAt(index)).filter((row) => row !== undefined);

/** @returns the index of the first loaded row that fits; -1 if none does */
export function findLoadedIndex<Row>(
  { loadedCount, rowAt }: PagedList<Row>,
  matches: (row: Row) => boolean,
): number {
  for (let index = 0; index < loadedCount; index += 1) {
    const row = rowAt(index);
    if (row !== undefined && matches(row)) return index;
  }
  return -1;
}

/** Updates loaded rows in every cached list whose key has this prefix. */
export function updateCachedRows<Row>(
  client: ReturnType<typeof useQueryClient>,
  key: readonly unknown[],
  change: (row: Row) => Row,
): void {
  const isRows = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey.at(-1) === 'rows';
  client.setQueriesData<Pages<Row>>({ queryKey: key, predicate: isRows }, (data) =>
    data === undefined
      ? data
      : { ...data, pages: data.pages.map((page) => ({ ...page, rows: page.rows.map(change) })) },
  );
}
