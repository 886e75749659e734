import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { notify } from '../components/notifications.ts';
import { ASSETS_KEY, type AssetRow } from './assets.ts';
import { api, AssayError } from './client.ts';
import type { NewAsset } from '../../../client/src/openapi-types.ts';
import { cachedAssessmentName } from './names.ts';
import { queryMessages } from './messages.ts';
import { chunk } from './chunk.ts';

/** A parsed line of pasted assets. */
export type AssetEntry = Pick<NewAsset, 'assetType' | 'name'> & { location: string };

/** Looks up at most this many names and URLs one by one; above that, reading the whole list is faster. */
const MAX_SINGLE_LOOKUPS = 40;
const LOOKUP_CONCURRENCY = 4;
/** Addresses per request; keeps its URL short. */
const ADDRESSES_PER_REQUEST = 100;

const LOOKUP_FIELDS = 'uid,organizationUid,location,assetType,listings,tags';

export const assetKey = ({ assetType, location }: Pick<AssetEntry, 'assetType' | 'location'>) =>
  `${assetType} ${location}`;

/** Finds the entries that an organization already has, by type and location (operation 75). */
export async function findExistingAssets(
  organizationUid: string,
  entries: readonly AssetEntry[],
  signal: AbortSignal,
): Promise<Map<string, AssetRow>> {
  const existingAssets = new Map<string, AssetRow>();
  const keys = new Set(entries.map(assetKey));
  const read = async (query: Record<string, unknown>) => {
    const all = { 'organizationUid[]': [organizationUid], fields: LOOKUP_FIELDS, perPage: 1_000, ...query };
    for await (const row of api.rows('/api/asset/v2/assets', { params: { query: all }, signal })) {
      const key = assetKey(row as AssetRow);
      if (keys.has(key)) existingAssets.set(key, row as AssetRow);
    }
  };
  const isAddress = ({ assetType, location }: AssetEntry) =>
    assetType === 'host' && /^[\d.]+$|:/.test(location);
  for (const batch of chunk(entries.filter(isAddress), ADDRESSES_PER_REQUEST))
    await read({ 'ipRange[]': batch.map(({ location }) => location) });
  const hostnames = entries.filter((item) => !isAddress(item));
  if (hostnames.length > MAX_SINGLE_LOOKUPS)
    await read({ 'assetType[]': [...new Set(hostnames.map(({ assetType }) => assetType))], perPage: 5_000 });
  else
    for (const batch of chunk(hostnames, LOOKUP_CONCURRENCY))
      await Promise.all(
        batch.map(({ assetType, location }) =>
          // The API searches at most 255 characters.
          read({ 'assetType[]': [assetType], search: location.slice(0, 255) }),
        ),
      );
  return existingAssets;
}

/** `findExistingAssets` as a query. @param text the pasted text, which identifies the query */
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
  newAssets: readonly AssetEntry[];
  /** Existing assets to add to the listing. */
  existing: readonly AssetRow[];
}

/** The index of an entry that the server rejects, and why. */
interface RejectedAsset {
  index: number;
  message: string;
}

/** @returns the entries that an error rejects; `begin` is the index of the first entry of the request */
export function rejectedAssets(error: unknown, begin: number): RejectedAsset[] {
  if (!(error instanceof AssayError)) return [];
  return error.fieldErrors.flatMap(({ property, message }) => {
    const index = /^(\d+)\./.exec(property)?.[1];
    return index === undefined ? [] : [{ index: begin + Number(index), message }];
  });
}

/** Says how many assets were created before the server rejected some. */
export class CreateAssetsError extends Error {
  readonly rejected: readonly RejectedAsset[];
  readonly createdCount: number;

  constructor(cause: unknown, added: number) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.createdCount = added;
    this.rejected = rejectedAssets(cause, added);
  }
}

/** Creates assets in batches (operation 74), and adds existing ones to the listing (operation 11). */
export function useCreateAssets() {
  const client = useQueryClient();
  return useMutation({
    async mutationFn({ organizationUid, listingUid, newAssets, existing }: CreateAssetsRequest) {
      let added = 0;
      try {
        for (const batch of chunk(newAssets)) {
          await api.POST('/api/asset/v2/assets', {
            body: batch.map(({ assetType, location, name }) => ({
              organizationUid,
              assetType,
              location,
              criticality: 'undefined',
              writableBy: 'any',
              ...(name === undefined || name === '' ? {} : { name }),
              ...(listingUid === null ? {} : { listingUid }),
            })),
          });
          added += batch.length;
        }
        if (listingUid !== null)
          for (const batch of chunk(existing))
            await api.PATCH('/api/asset/v2/listings/{listingUid}/assets', {
              params: { path: { listingUid } },
              body: { add: batch.map(({ uid }) => ({ assetUid: uid })), remove: [] },
            });
      } catch (error) {
        throw new CreateAssetsError(error, added);
      }
    },
    onSuccess(_nothing, { newAssets, existing, listingUid }) {
      const parts = [
        ...(newAssets.length > 0 ? [queryMessages.asset.added(newAssets.length)] : []),
        ...(existing.length > 0 && listingUid !== null
          ? [queryMessages.asset.addedTo(existing.length, cachedAssessmentName(client, listingUid))]
          : []),
      ];
      notify(parts.join(', '));
    },
    onSettled: () => client.resetQueries({ queryKey: ASSETS_KEY }),
  });
}
