import { queryOptions, useMutation, useQueryClient, infiniteQueryOptions } from '@tanstack/react-query';
import { api, type Asset, pageStart, parsePage, parseTotal } from './client.ts';
import type { AssetType, Criticality } from './enums.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';
import { notify, notifyError } from '../components/notifications.ts';
import { commonMessages } from '../components/messages.ts';
import { queryMessages } from './messages.ts';

/** Fields that the table shows and that edits need. */
const ROW_FIELDS = [
  'uid',
  'organizationUid',
  'assetType',
  'name',
  'location',
  'criticality',
  'listings',
  'tags',
  'openPortCount',
  'vulnerabilityCount',
  'lastSeen',
] as const;

export type AssetRow = Pick<Asset, (typeof ROW_FIELDS)[number]>;

export const ASSET_TYPE_LABELS: Readonly<Record<AssetType, string>> = {
  host: 'Host',
  webapp: 'Web application',
  network: 'Network',
  cloudaccount: 'Cloud account',
  mobileapp: 'Mobile application',
};

/** Parameters of operation 75. A `sort` that begins with `-` is descending. */
export interface AssetSearch {
  search?: string;
  assetType?: AssetType[];
  criticality?: Criticality[];
  tagUid?: string[];
  listingUid?: string[];
  organizationUid?: string[];
  portNumber?: number[];
  ipRange?: string[];
  sort?: string;
}

/** Prefix of the query keys of all lists of assets. */
export const ASSETS_KEY = ['assets'] as const;

function filterParams({ search, sort, ...filters }: AssetSearch): Record<string, unknown> {
  return {
    ...(search === undefined ? {} : { search }),
    ...Object.fromEntries(Object.entries(filters).map(([name, values]) => [`${name}[]`, values])),
    ...(sort === undefined
      ? {}
      : { sort: sort.replace(/^-/, ''), sortDir: sort.startsWith('-') ? 'desc' : 'asc' }),
  };
}

/** Lists assets (operation 75). */
export function useAssets(search: AssetSearch): PagedList<AssetRow> {
  const query = filterParams(search);
  return usePagedList<AssetRow>({
    key: [...ASSETS_KEY, search],
    async fetchPage(cursor, signal, number) {
      const result = await api.GET('/api/asset/v2/assets', {
        params: {
          query: {
            ...query,
            fields: ROW_FIELDS.join(','),
            perPage: PAGE_SIZE,
            ...pageStart(cursor, number, 'page'),
          },
        },
        signal,
      });
      return parsePage<AssetRow>(result as { data: readonly AssetRow[]; response: Response });
    },
    async fetchTotal(signal) {
      const { response } = await api.GET('/api/asset/v2/assets', {
        params: { query: { ...query, fields: 'uid', perPage: 1 } },
        signal,
      });
      return parseTotal(response);
    },
  });
}

/** Reads an asset (operation 76). */
export const assetQuery = (uid: string) =>
  queryOptions({
    queryKey: ['asset', uid],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET('/api/asset/v2/assets/{assetUid}', {
        params: { path: { assetUid: uid } },
        signal,
      });
      return { ...data, version: response.headers.get('etag') ?? '*' };
    },
  });

/** Searches the asset tags of an organization by name (operation 70). */
export async function searchTags(organizationUid: string, search: string, signal?: AbortSignal) {
  const { data } = await api.GET('/api/tagging/v1.0/organizations/{orgUid}/tags', {
    params: {
      path: { orgUid: organizationUid },
      query: { ...(search === '' ? {} : { search }), perPage: 20 },
    },
    ...(signal === undefined ? {} : { signal }),
  });
  return data;
}

/** Reads the location and the name of an asset (operation 76). */
export const assetNameQuery = (uid: string) =>
  queryOptions({
    queryKey: ['asset-name', uid],
    async queryFn({ signal }) {
      const params = { path: { assetUid: uid } };
      const { data } = await api.GET('/api/asset/v2/assets/{assetUid}', { params, signal });
      return { location: data.location, name: data.name, listings: data.listings };
    },
    staleTime: 60_000,
  });

export type AssetEdit = Partial<Pick<Asset, 'name' | 'location' | 'description'>>;

interface Edit {
  original: Asset & { version: string };
  set: AssetEdit;
  /** Whether to overwrite concurrent changes. */
  overwrites?: boolean;
}

const patchAsset = async (uid: string, set: AssetEdit, version: string) => {
  const { data, response } = await api.PATCH('/api/asset/v2/assets/{assetUid}', {
    params: { path: { assetUid: uid } },
    headers: { 'if-match': version },
    body: set,
  });
  return { ...data, version: response.headers.get('etag') ?? '*' };
};

/** Updates an asset (operation 77), with undo. Fails with `AssayError.status` 412 on a concurrent change. */
export function useEditAsset() {
  const client = useQueryClient();
  const show = (now: Asset & { version: string }) => {
    client.setQueryData(['asset', now.uid], now);
    void client.resetQueries({ queryKey: ASSETS_KEY });
  };
  const undo = async ({ original, set }: Edit, version: string) => {
    const previous = Object.fromEntries(
      Object.keys(set).map((name) => [name, original[name as keyof AssetEdit]]),
    );
    try {
      show(await patchAsset(original.uid, previous, version));
      notify(commonMessages.undone);
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  return useMutation({
    mutationFn: ({ original, set, overwrites = false }: Edit) =>
      patchAsset(original.uid, set, overwrites ? '*' : original.version),
    onSuccess(now, edit) {
      show(now);
      notify(queryMessages.updated(now.location ?? now.uid), { undo: () => void undo(edit, now.version) });
    },
  });
}

/** Deletes an asset (operation 78). */
export function useDeleteAsset() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ uid }: Asset) =>
      api.DELETE('/api/asset/v2/assets/{assetUid}', { params: { path: { assetUid: uid } } }),
    onSuccess(_nothing, { uid, location }) {
      client.removeQueries({ queryKey: ['asset', uid] });
      void client.resetQueries({ queryKey: ASSETS_KEY });
      notify(queryMessages.deleted(location ?? uid));
    },
  });
}

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
