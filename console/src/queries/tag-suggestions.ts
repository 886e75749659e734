import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';

/** Names that a search is shown. */
const MAX_SUGGESTIONS = 20;

/** Operation 32: the names of tags of vulnerabilities that a search finds; those of the search before until it is answered. */
export const tagSuggestions = (search: string) =>
  queryOptions({
    queryKey: ['tag-names', search],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/v1/vulnerability_tags', {
        params: { query: { 'filter[search]': search, 'page[size]': MAX_SUGGESTIONS } },
        signal,
      });
      // Staff read those of several organizations, which may be called alike.
      return [...new Set(data.map(({ name }) => name))];
    },
    placeholderData: keepPreviousData,
  });
