import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { tell } from '../components/notifications.tsx';
import { ASSETS, assetCount, type AssetRow } from './assets.ts';
import { batches } from './bulk-edit-assets.ts';
import { api, AssayError } from './client.ts';
import type { NewAsset } from '../../../client/src/description.ts';

/** What a pasted line names. */
export type Located = Pick<NewAsset, 'assetType' | 'name'> & { location: string };

/** Up to so many names and URLs are asked for one by one; of more the list is read instead. */
const SINGLY = 40;
const AT_ONCE = 4;
/** Addresses that one request asks for, so that its own address stays short. */
const ADDRESSES = 100;

const LOOKED_UP = 'uid,organizationUid,location,assetType,listings,tags';

export const keyOf = ({ assetType, location }: Pick<Located, 'assetType' | 'location'>) =>
  `${assetType} ${location}`;

/** @returns which of these an organization has already, by type and location (operation 75) */
export async function knownAssets(
  organizationUid: string,
  wanted: readonly Located[],
  signal: AbortSignal,
): Promise<Map<string, AssetRow>> {
  const found = new Map<string, AssetRow>();
  const keys = new Set(wanted.map(keyOf));
  const read = async (query: Record<string, unknown>) => {
    const all = { 'organizationUid[]': [organizationUid], fields: LOOKED_UP, perPage: 1_000, ...query };
    for await (const row of api.rows('/api/asset/v2/assets', { params: { query: all }, signal })) {
      const key = keyOf(row as AssetRow);
      if (keys.has(key)) found.set(key, row as AssetRow);
    }
  };
  const isAddress = ({ assetType, location }: Located) => assetType === 'host' && /^[\d.]+$|:/.test(location);
  for (const some of batches(wanted.filter(isAddress), ADDRESSES))
    await read({ 'ipRange[]': some.map(({ location }) => location) });
  const named = wanted.filter((item) => !isAddress(item));
  if (named.length > SINGLY)
    await read({ 'assetType[]': [...new Set(named.map(({ assetType }) => assetType))], perPage: 5_000 });
  else
    for (const some of batches(named, AT_ONCE))
      await Promise.all(
        some.map(({ assetType, location }) =>
          // A search has at most 255 characters; what is longer is found by how it begins.
          read({ 'assetType[]': [assetType], search: location.slice(0, 255) }),
        ),
      );
  return found;
}

/** `knownAssets`, anew for each list that is asked for. @param text that the assets were read of */
export const useKnownAssets = (
  organizationUid: string | undefined,
  { text, assets }: { text: string; assets: readonly Located[] },
) =>
  useQuery({
    queryKey: ['known-assets', organizationUid, text],
    queryFn: ({ signal }) => knownAssets(organizationUid ?? '', assets, signal),
    enabled: organizationUid !== undefined && assets.length > 0,
    staleTime: 0,
  });

interface Addition {
  organizationUid: string;
  listingUid: string | null;
  /** Those that no asset is at. */
  fresh: readonly Located[];
  /** Those that stand, and are to be put on the listing. */
  known: readonly AssetRow[];
}

/** What the server has against one of them: where it stands among them, and why. */
export interface RefusedAsset {
  index: number;
  message: string;
}

/** @returns what an error says of the assets of a request that began at an index */
export function refusedAssets(error: unknown, begin: number): RefusedAsset[] {
  if (!(error instanceof AssayError)) return [];
  return error.faults.flatMap(({ property, message }) => {
    const index = /^(\d+)\./.exec(property)?.[1];
    return index === undefined ? [] : [{ index: begin + Number(index), message }];
  });
}

/** How far an addition came before it was refused, and what was wrong. */
export class AdditionError extends Error {
  readonly refused: readonly RefusedAsset[];
  readonly added: number;

  constructor(cause: unknown, added: number) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.added = added;
    this.refused = refusedAssets(cause, added);
  }
}

/** Operation 74, a thousand at a time, and operation 11 for those that stand. */
export function useAddAssets() {
  const client = useQueryClient();
  return useMutation({
    async mutationFn({ organizationUid, listingUid, fresh, known }: Addition) {
      let added = 0;
      try {
        for (const some of batches(fresh)) {
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
          for (const some of batches(known))
            await api.PATCH('/api/asset/v2/listings/{listingUid}/assets', {
              params: { path: { listingUid } },
              body: { add: some.map(({ uid }) => ({ assetUid: uid })), remove: [] },
            });
      } catch (error) {
        throw new AdditionError(error, added);
      }
    },
    onSuccess(_nothing, { fresh, known, listingUid }) {
      const said = [
        ...(fresh.length > 0 ? [`${assetCount(fresh.length)} added`] : []),
        ...(known.length > 0 ? [`${assetCount(known.length)} put on ${listingUid}`] : []),
      ];
      tell(`${said.join(', ')}.`);
    },
    onSettled: () => client.resetQueries({ queryKey: ASSETS }),
  });
}
