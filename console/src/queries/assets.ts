import { queryOptions } from '@tanstack/react-query';
import { api, type Asset, parseAssetTotal, parsePage } from './client.ts';
import type { AssetType, Criticality } from './enums.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

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
    async fetchPage(cursor, signal) {
      const result = await api.GET('/api/asset/v2/assets', {
        params: {
          query: { ...query, fields: ROW_FIELDS.join(','), perPage: PAGE_SIZE, 'page[after]': cursor },
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
      return parseAssetTotal(response);
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
      return { location: data.location, name: data.name };
    },
    staleTime: 60_000,
  });
