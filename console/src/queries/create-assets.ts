import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { notify } from '../components/notifications.tsx';
import { ASSETS_KEY, pluralizeAssets, type AssetRow } from './assets.ts';
import { chunk } from './bulk-edit-assets.ts';
import { api, AssayError } from './client.ts';
import type { NewAsset } from '../../../client/src/description.ts';

/** What a pasted line names. */
export type AssetEntry = Pick<NewAsset, 'assetType' | 'name'> & { location: string };

/** Up to so many names and URLs are asked for one by one; of more the list is read instead. */
const MAX_SINGLE_LOOKUPS = 40;
const LOOKUP_CONCURRENCY = 4;
/** Addresses that one request asks for, so that its own address stays short. */
const ADDRESSES_PER_REQUEST = 100;

const LOOKUP_FIELDS = 'uid,organizationUid,location,assetType,listings,tags';

export const assetKey = ({ assetType, location }: Pick<AssetEntry, 'assetType' | 'location'>) =>
  `${assetType} ${location}`;

/** @returns which of these an organization has already, by type and location (operation 75) */
export async function findExistingAssets(
  organizationUid: string,
  wanted: readonly AssetEntry[],
  signal: AbortSignal,
): Promise<Map<string, AssetRow>> {
  const found = new Map<string, AssetRow>();
  const keys = new Set(wanted.map(assetKey));
  const read = async (query: Record<string, unknown>) => {
    const all = { 'organizationUid[]': [organizationUid], fields: LOOKUP_FIELDS, perPage: 1_000, ...query };
    for await (const row of api.rows('/api/asset/v2/assets', { params: { query: all }, signal })) {
      const key = assetKey(row as AssetRow);
      if (keys.has(key)) found.set(key, row as AssetRow);
    }
  };
  const isAddress = ({ assetType, location }: AssetEntry) =>
    assetType === 'host' && /^[\d.]+$|:/.test(location);
  for (const some of chunk(wanted.filter(isAddress), ADDRESSES_PER_REQUEST))
    await read({ 'ipRange[]': some.map(({ location }) => location) });
  const named = wanted.filter((item) => !isAddress(item));
  if (named.length > MAX_SINGLE_LOOKUPS)
    await read({ 'assetType[]': [...new Set(named.map(({ assetType }) => assetType))], perPage: 5_000 });
  else
    for (const some of chunk(named, LOOKUP_CONCURRENCY))
      await Promise.all(
        some.map(({ assetType, location }) =>
          // A search has at most 255 characters; what is longer is found by how it begins.
          read({ 'assetType[]': [assetType], search: location.slice(0, 255) }),
        ),
      );
  return found;
}

/** `knownAssets`, anew for each list that is asked for. @param text that the assets were read of */
export const useExistingAssets = (
  organizationUid: string | undefined,
  { text, assets }: { text: string; assets: readonly AssetEntry[] },
) =>
  useQuery({
    queryKey: ['known-assets', organizationUid, text],
    queryFn: ({ signal }) => findExistingAssets(organizationUid ?? '', assets, signal),
    enabled: organizationUid !== undefined && assets.length > 0,
    staleTime: 0,
  });

interface CreateAssetsRequest {
  organizationUid: string;
  listingUid: string | null;
  /** Those that no asset is at. */
  newAssets: readonly AssetEntry[];
  /** Those that stand, and are to be put on the listing. */
  existing: readonly AssetRow[];
}

/** What the server has against one of them: where it stands among them, and why. */
export interface RejectedAsset {
  index: number;
  message: string;
}

/** @returns what an error says of the assets of a request that began at an index */
export function rejectedAssets(error: unknown, begin: number): RejectedAsset[] {
  if (!(error instanceof AssayError)) return [];
  return error.fieldErrors.flatMap(({ property, message }) => {
    const index = /^(\d+)\./.exec(property)?.[1];
    return index === undefined ? [] : [{ index: begin + Number(index), message }];
  });
}

/** How far an addition came before it was refused, and what was wrong. */
export class CreateAssetsError extends Error {
  readonly rejected: readonly RejectedAsset[];
  readonly createdCount: number;

  constructor(cause: unknown, added: number) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.createdCount = added;
    this.rejected = rejectedAssets(cause, added);
  }
}

/** Operation 74, a thousand at a time, and operation 11 for those that stand. */
export function useCreateAssets() {
  const client = useQueryClient();
  return useMutation({
    async mutationFn({ organizationUid, listingUid, newAssets, existing }: CreateAssetsRequest) {
      let added = 0;
      try {
        for (const some of chunk(newAssets)) {
          await api.POST('/api/asset/v2/assets', {
            body: some.map(({ assetType, location, name }) => ({
              organizationUid,
              assetType,
              location,
              criticality: 'undefined',
              writableBy: 'any',
              ...(name === undefined || name === '' ? {} : { name }),
              ...(listingUid === null ? {} : { listingUid }),
            })),
          });
          added += some.length;
        }
        if (listingUid !== null)
          for (const some of chunk(existing))
            await api.PATCH('/api/asset/v2/listings/{listingUid}/assets', {
              params: { path: { listingUid } },
              body: { add: some.map(({ uid }) => ({ assetUid: uid })), remove: [] },
            });
      } catch (error) {
        throw new CreateAssetsError(error, added);
      }
    },
    onSuccess(_nothing, { newAssets, existing, listingUid }) {
      const said = [
        ...(newAssets.length > 0 ? [`${pluralizeAssets(newAssets.length)} added`] : []),
        ...(existing.length > 0 ? [`${pluralizeAssets(existing.length)} put on ${listingUid}`] : []),
      ];
      notify(`${said.join(', ')}.`);
    },
    onSettled: () => client.resetQueries({ queryKey: ASSETS_KEY }),
  });
}
