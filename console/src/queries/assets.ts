import { queryOptions } from '@tanstack/react-query';
import { pluralize } from '../components/pluralize.ts';
import { api, type Asset, parseAssetTotal, parsePage } from './client.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

/** What the table shows of each, and what changing it needs. */
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
export type AssetType = Asset['assetType'];
export type Criticality = Asset['criticality'];

export const CRITICALITIES = ['high', 'medium', 'low', 'undefined'] as const;

export const ASSET_TYPES: Readonly<Record<AssetType, string>> = {
  host: 'Host',
  webapp: 'Web application',
  network: 'Network',
  cloudaccount: 'Cloud account',
  mobileapp: 'Mobile application',
};

/** Of operation 75, by the names of its parameters; `sort` with a `-` before it descends. */
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

/** What every list of assets begins its key with. */
export const ASSETS_KEY = ['assets'] as const;

/** @returns the parameters of operation 75 for these filters */
function filterParams({ search, sort, ...filters }: AssetSearch): Record<string, unknown> {
  return {
    ...(search === undefined ? {} : { search }),
    ...Object.fromEntries(Object.entries(filters).map(([name, values]) => [`${name}[]`, values])),
    ...(sort === undefined
      ? {}
      : { sort: sort.replace(/^-/, ''), sortDir: sort.startsWith('-') ? 'desc' : 'asc' }),
  };
}

/** Operation 75: the assets that a search finds. */
export function useAssets(search: AssetSearch): PagedList<AssetRow> {
  const query = filterParams(search);
  return usePagedList<AssetRow>({
    key: [...ASSETS_KEY, search],
    async fetchPage(cursor, signal) {
      const answer = await api.GET('/api/asset/v2/assets', {
        params: {
          query: { ...query, fields: ROW_FIELDS.join(','), perPage: PAGE_SIZE, 'page[after]': cursor },
        },
        signal,
      });
      return parsePage<AssetRow>(answer as { data: readonly AssetRow[]; response: Response });
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

/** Operation 76. */
export const asset = (uid: string) =>
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

/** Operation 70: tags of an organization by a part of their name. */
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

/** Operation 34: assessments by a part of their name; an assessment is the listing of its assets. */
export async function searchListings(search: string, signal?: AbortSignal) {
  const { data } = await api.GET('/v1/assessments', {
    params: { query: { ...(search === '' ? {} : { 'filter[search]': search }), 'page[size]': 20 } },
    ...(signal === undefined ? {} : { signal }),
  });
  return data;
}

/** @returns what assets are called in a sentence: "1 asset" */
export const pluralizeAssets = (number: number) => pluralize(number, 'asset');
