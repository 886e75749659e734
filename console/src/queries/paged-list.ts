import {
  hashKey,
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  type UseInfiniteQueryOptions,
  type UseInfiniteQueryResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useMemo, useState } from 'react';
import { type CursorPage, pageStart, parsePage, parseTotal } from './client.ts';
import { FIRST_RETRIES, isFirstRetry, isTransient } from './retry.ts';

/** The maximum of the V1 lists. */
export const PAGE_SIZE = 200;

/** A list of the API: its start is loaded page by page with a cursor, pages beyond it by number if it has a total. */
export interface PagedList<Row> {
  /** Changes with the filters and the order. */
  listId: string;
  /** The server's count, and at least the number of loaded rows. */
  total: number;
  /** Whether `total` is known; until then there are more than `loadedCount`. */
  isCounted: boolean;
  loadedCount: number;
  /** The loaded rows by page, with holes. Rows that move while pages load can be on two. */
  pages: readonly (readonly Row[])[];
  rowAt: (index: number) => Row | undefined;
  /** Loads the visible rows, given the indexes of the first and the last, and some ahead of scrolling. */
  load: (first: number, last: number, isScrolling: boolean) => void;
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
  /** Reads the page at a cursor, which is empty for the first page, or a page by number if `fetchTotal` is set. */
  fetchPage: (cursor: string, signal: AbortSignal, number?: number) => Promise<CursorPage<Row>>;
  /** Counts all rows, if the API can. */
  fetchTotal?: (signal: AbortSignal) => Promise<number>;
  pageSize?: number;
  /** Whether everything that the key needs is there. */
  isEnabled?: boolean;
}

interface PageParams {
  'page[size]': number;
}

/**
 * Reads the pages and the count of a V1 list.
 * @param get requests the list with the parameters of a page
 */
export const v1Pages = <Row>(
  get: (page: PageParams, signal: AbortSignal) => Promise<{ data: readonly Row[]; response: Response }>,
): Pick<ListOptions<Row>, 'fetchPage' | 'fetchTotal'> => ({
  fetchPage: async (cursor, signal, number) =>
    parsePage(await get({ 'page[size]': PAGE_SIZE, ...pageStart(cursor, number) }, signal)),
  fetchTotal: async (signal) => parseTotal((await get({ 'page[size]': 1 }, signal)).response),
});

type Pages<Row, Start> = InfiniteData<CursorPage<Row>, Start>;

/** Milliseconds; counts only once the user has stopped typing. */
const COUNT_DEBOUNCE = 300;

/** Rows loaded ahead of scrolling. */
const PREFETCH_ROWS = 400;

const NO_NUMBERS: readonly number[] = [];

export function usePagedList<Row>({
  key,
  fetchPage,
  fetchTotal,
  pageSize = PAGE_SIZE,
  isEnabled = true,
}: ListOptions<Row>): PagedList<Row> {
  const client = useQueryClient();
  const listId = hashKey(key);
  const totalKey = [...key, 'total'];
  const [start, startError] = usePages<Row, string>({
    queryKey: [...key, 'rows'],
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    enabled: isEnabled,
    initialPageParam: '',
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  });
  const { data: startData, hasNextPage, isFetchingNextPage, fetchNextPage, isPlaceholderData } = start;
  const [debouncedId] = useDebouncedValue(listId, COUNT_DEBOUNCE);
  const totalQuery = useQuery({
    queryKey: totalKey,
    queryFn: ({ signal }) => fetchTotal?.(signal) ?? null,
    // Counting may be slower than reading: it starts after the rows, and only if there are further pages.
    enabled: fetchTotal !== undefined && debouncedId === listId && hasNextPage && !isPlaceholderData,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
  const [jumps, setJumps] = useState({ listId, numbers: NO_NUMBERS });
  /** Numbers of the pages beyond the start that were visible, in this order. */
  const numbers = jumps.listId === listId ? jumps.numbers : NO_NUMBERS;
  const [jump, jumpError] = usePages<Row, number>({
    queryKey: [...key, 'numbered', 'rows'],
    async queryFn({ pageParam, signal }) {
      const page = await fetchPage('', signal, pageParam);
      client.setQueryData(totalKey, page.total);
      return page;
    },
    enabled: numbers.length > 0,
    initialPageParam: numbers[0] ?? 1,
    getNextPageParam: (_last, _pages, _number, read) => numbers.find((number) => !read.includes(number)),
    // Pages that are not on the screen would be out of date later.
    gcTime: 0,
  });
  const { data: jumpData, fetchNextPage: fetchNextJump } = jump;
  const isJumpWaiting = jump.hasNextPage && !jump.isFetching && jumpError === null;
  useEffect(() => {
    if (isJumpWaiting) void fetchNextJump();
  }, [isJumpWaiting, fetchNextJump]);
  const isPending = start.isPending && startError === null;
  const data = isPlaceholderData && startError !== null ? undefined : startData;
  const retryStart = data === undefined ? start.refetch : fetchNextPage;
  const retryJump = jumpData === undefined ? jump.refetch : fetchNextJump;
  const counted = totalQuery.data ?? 0;
  const isCounted = !hasNextPage || (totalQuery.data !== undefined && !totalQuery.isPlaceholderData);
  const canJump = fetchTotal !== undefined && isCounted;
  return useMemo(() => {
    const pages = (data?.pages ?? []).map(({ rows }) => rows);
    const startCount = Math.max(0, (pages.length - 1) * pageSize) + (pages.at(-1)?.length ?? 0);
    jumpData?.pages.forEach(({ rows }, index) => {
      pages[(jumpData.pageParams[index] ?? 0) - 1] ??= rows;
    });
    const rowAt = (index: number) => pages[Math.floor(index / pageSize)]?.[index % pageSize];
    return {
      listId,
      total: hasNextPage ? Math.max(counted, startCount + 1) : startCount,
      isCounted,
      loadedCount: pages.reduce((sum, rows) => sum + rows.length, 0),
      pages,
      rowAt,
      load(first, last, isScrolling) {
        if (!hasNextPage || isPlaceholderData) return;
        if (first <= startCount || !canJump) {
          if (last + PREFETCH_ROWS > startCount && !isFetchingNextPage && startError === null)
            void fetchNextPage();
          return;
        }
        // Dragging the scrollbar passes many pages, scrolling goes on from a loaded one.
        if (isScrolling && rowAt(first) === undefined && rowAt(last) === undefined) return;
        const missing: number[] = [];
        for (let page = Math.floor(first / pageSize); page * pageSize <= last; page += 1)
          if (pages[page] === undefined && !numbers.includes(page + 1)) missing.push(page + 1);
        if (missing.length > 0) setJumps({ listId, numbers: [...numbers, ...missing] });
      },
      isPending,
      isPlaceholder: isPlaceholderData,
      error: startError ?? jumpError,
      retry() {
        if (startError !== null) void retryStart();
        if (jumpError !== null) void retryJump();
      },
    };
  }, [
    data,
    jumpData,
    counted,
    isCounted,
    hasNextPage,
    isFetchingNextPage,
    fetchNextPage,
    canJump,
    numbers,
    isPending,
    isPlaceholderData,
    startError,
    jumpError,
    retryStart,
    retryJump,
    pageSize,
    listId,
  ]);
}

/** @returns the query of some pages, and its error, also while a failed request is repeated */
function usePages<Row, Start>(
  options: UseInfiniteQueryOptions<CursorPage<Row>, Error, Pages<Row, Start>, readonly unknown[], Start>,
): [UseInfiniteQueryResult<Pages<Row, Start>>, Error | null] {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    // Reloading many pages in the background would be expensive.
    staleTime: Infinity,
    structuralSharing: false,
    // A further page that fails is repeated alone; after an error, the query would read all pages again.
    retry: (count, error) =>
      client.getQueryData(options.queryKey) === undefined ? isFirstRetry(count, error) : isTransient(error),
    ...options,
  });
  return [query, useLastError(query)];
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

/** @returns the loaded rows with distinct ids */
export const loadedRows = <Row>({ pages }: PagedList<Row>, rowId: (row: Row) => string): Row[] => [
  ...new Map(pages.flat().map((row) => [rowId(row), row])).values(),
];

/** @returns the index of the first loaded row that fits; -1 if none does */
export function findLoadedIndex<Row>(
  { total, rowAt }: PagedList<Row>,
  matches: (row: Row) => boolean,
): number {
  for (let index = 0; index < total; index += 1) {
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
  client.setQueriesData<Pages<Row, unknown>>({ queryKey: key, predicate: isRows }, (data) =>
    data === undefined
      ? data
      : { ...data, pages: data.pages.map((page) => ({ ...page, rows: page.rows.map(change) })) },
  );
}
