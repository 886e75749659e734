import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, parsePage, type TimelineEntry } from './client.ts';

const TIMELINE_PAGE_SIZE = 50;

/** Reads the timeline by page (operation 31). */
export const timeline = (id: number, newestFirst: boolean) =>
  infiniteQueryOptions({
    queryKey: ['vulnerability', id, 'timeline', newestFirst],
    async queryFn({ pageParam, signal }) {
      const query = {
        'page[size]': TIMELINE_PAGE_SIZE,
        'page[after]': pageParam,
        sort: newestFirst ? ('-at' as const) : ('at' as const),
      };
      const params = { path: { id }, query };
      return parsePage<TimelineEntry>(await api.GET('/v1/vulnerabilities/{id}/timeline', { params, signal }));
    },
    initialPageParam: '',
    getNextPageParam: (last) => last.next,
  });
