import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';

const MAX_SUGGESTIONS = 20;

/** Searches the names of vulnerability tags (operation 32). Keeps the previous result while loading. */
export const tagSuggestionsQuery = (search: string) =>
  queryOptions({
    queryKey: ['tag-names', search],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/v1/vulnerability_tags', {
        params: { query: { 'filter[search]': search, 'page[size]': MAX_SUGGESTIONS } },
        signal,
      });
      // Staff see several organizations, whose tags may have the same name.
      return [...new Set(data.map(({ name }) => name))];
    },
    placeholderData: keepPreviousData,
  });
