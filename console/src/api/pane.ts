import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';

/** Comments that the pane shows. */
const LAST = 3;
const PAGE = 50;

/** Operation 24: the last comments of so many, the newest first. */
export const lastComments = (id: number, count: number) =>
  queryOptions({
    queryKey: ['vulnerability', id, 'last-comments', count],
    async queryFn({ signal }) {
      const page = async (number: number) =>
        (
          await api.GET('/v1/vulnerabilities/{id}/comments', {
            params: { path: { id }, query: { 'page[size]': PAGE, 'page[number]': number } },
            signal,
          })
        ).data;
      const last = Math.max(1, Math.ceil(count / PAGE));
      const found = await page(last);
      const before = found.length < LAST && last > 1 ? await page(last - 1) : [];
      return [...before, ...found].slice(-LAST).toReversed();
    },
    enabled: count > 0,
  });

/** Operation 27: the retest that was asked for last; `null` where none was. */
export const lastRetest = (id: number) =>
  queryOptions({
    queryKey: ['vulnerability', id, 'last-retest'],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/v1/vulnerabilities/{vulnerability_id}/patch_verifications', {
        params: { path: { vulnerability_id: id }, query: { 'page[size]': 200 } },
        signal,
      });
      return data.at(-1) ?? null;
    },
  });
