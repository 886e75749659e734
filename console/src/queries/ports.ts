import { infiniteQueryOptions } from '@tanstack/react-query';
import { api } from './client.ts';

const PORTS_PAGE_SIZE = 50;

interface HostRef {
  organizationUid: string;
  uid: string;
}

const nextPage = ({ meta }: { meta: { page: number; total_pages: number } }) =>
  meta.page < meta.total_pages ? meta.page + 1 : undefined;

/** Lists the open or the closed ports of a host (operation 14). */
export const portsQuery = ({ organizationUid, uid }: HostRef, state: 'open' | 'closed') =>
  infiniteQueryOptions({
    queryKey: ['asset', uid, 'ports', state],
    queryFn: async ({ pageParam, signal }) =>
      (
        await api.GET('/api/streaming/v1/{org_uid}/assets/{asset_uid}/ports', {
          params: {
            path: { org_uid: organizationUid, asset_uid: uid },
            query: { observed_state: state, per_page: PORTS_PAGE_SIZE, page: pageParam },
          },
          signal,
        })
      ).data,
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });

/** Lists the port changes of a host, newest first (operation 81). */
export const portHistoryQuery = ({ organizationUid, uid }: HostRef) =>
  infiniteQueryOptions({
    queryKey: ['asset', uid, 'port-history'],
    queryFn: async ({ pageParam, signal }) =>
      (
        await api.GET('/api/streaming/v1/{org_uid}/assets/{asset_uid}/ports/history', {
          params: {
            path: { org_uid: organizationUid, asset_uid: uid },
            query: { per_page: PORTS_PAGE_SIZE, page: pageParam },
          },
          signal,
        })
      ).data,
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
