import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Choice } from './choice.ts';
import { KINDS, type SearchKind } from './search-kinds.tsx';

/** Milliseconds for which matches are shown again without a request. */
const STALE_TIME = 10_000;

export interface Matches {
  kind: SearchKind;
  isSearched: boolean;
  choices: readonly Choice[];
  /** Whether there are more on the server. */
  hasMore: boolean;
  /** Whether these are not yet the matches of the text. */
  isPending: boolean;
  isFailed: boolean;
}

/** The matches of one kind. A request for another text is aborted. */
export function useMatches(kind: SearchKind, text: string, size: number, isSearched: boolean): Matches {
  const { data, isPlaceholderData, isPending, isError } = useQuery({
    queryKey: ['palette', kind, text, size],
    queryFn: ({ signal }) => KINDS[kind].find(text, size + 1, signal),
    enabled: isSearched,
    placeholderData: keepPreviousData,
    staleTime: STALE_TIME,
    gcTime: STALE_TIME,
  });
  const choices = isSearched && !isError ? (data ?? []) : [];
  return {
    kind,
    isSearched,
    choices: choices.slice(0, size),
    hasMore: choices.length > size,
    isPending: isSearched && (isPending || isPlaceholderData),
    isFailed: isSearched && isError,
  };
}
