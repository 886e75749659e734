import {
  hashKey,
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo } from 'react';
import type { CursorPage } from './client.ts';

/** Rows of a page: the most that the V1 lists give. */
export const PAGE_SIZE = 200;

/** A list of the API as a table reads it: page after page by cursor, so that no row comes twice or is left out. */
export interface PagedList<Row> {
  /** Another one for another list: it changes with filters and order. */
  listId: string;
  /** How many there are by the server's count, and at least those that were read. */
  total: number;
  /** Whether the server has counted them; there are more than `loaded` until then. */
  isCounted: boolean;
  /** How many were read. */
  loadedCount: number;
  /** @returns a row that was read */
  rowAt: (index: number) => Row | undefined;
  /** Reads on until the row with this index is there. */
  loadUntil: (index: number) => void;
  isPending: boolean;
  /** Whether the rows are those of the list before, until this one's are read. */
  isPlaceholder: boolean;
  error: Error | null;
  /** Reads the list anew from its begin. */
  refresh: () => void;
}

interface ListOptions<Row> {
  /** Names the list, with all that its rows depend on. */
  key: readonly unknown[];
  /** Reads the page that a cursor stands for; an empty one for the first. */
  fetchPage: (cursor: string, signal: AbortSignal) => Promise<CursorPage<Row>>;
  /** Counts all rows; absent where nothing does that. */
  fetchTotal?: (signal: AbortSignal) => Promise<number>;
  pageSize?: number;
}

type Pages<Row> = InfiniteData<CursorPage<Row>, string>;

/** Milliseconds for which another list stays before it is counted: while somebody types, none is. */
const COUNT_DEBOUNCE = 300;

/** Reads a list. */
export function usePagedList<Row>({
  key,
  fetchPage,
  fetchTotal,
  pageSize = PAGE_SIZE,
}: ListOptions<Row>): PagedList<Row> {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: [...key, 'rows'],
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next,
    // A list of many pages is not read again behind somebody's back.
    staleTime: Infinity,
    structuralSharing: false,
    placeholderData: keepPreviousData,
  });
  const listId = hashKey(key);
  const [settledId] = useDebouncedValue(listId, COUNT_DEBOUNCE);
  const counted = useQuery({
    queryKey: [...key, 'total'],
    queryFn: ({ signal }) => fetchTotal?.(signal) ?? null,
    // To count may take the server longer than to read: it comes after the rows, and not for a list that is read whole.
    enabled:
      fetchTotal !== undefined && settledId === listId && query.hasNextPage && !query.isPlaceholderData,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage, isPending, error } = query;
  const isPlaceholder = query.isPlaceholderData;
  const total = counted.data ?? 0;
  const isCounted = !hasNextPage || (counted.data !== undefined && !counted.isPlaceholderData);
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
        if (index >= loadedCount && hasNextPage && !isFetchingNextPage && !isPlaceholder)
          void fetchNextPage();
      },
      isPending,
      isPlaceholder,
      error,
      refresh() {
        void client.resetQueries({ queryKey: key });
      },
    };
    // `listId` stands for `key`, which is another array each time.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [
    data,
    total,
    isCounted,
    hasNextPage,
    isFetchingNextPage,
    fetchNextPage,
    isPending,
    isPlaceholder,
    error,
    pageSize,
    listId,
  ]);
}

/** Changes rows that were read, where they stand, in every list whose key begins like this. */
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
