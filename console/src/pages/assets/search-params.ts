import { omitUndefined, parseEnum, parseIntegers, parseText, parseTexts } from '../../app/search-params.ts';
import type { AssetSearch } from '../../queries/assets.ts';
import { ASSET_TYPES, CRITICALITIES } from '../../queries/enums.ts';

const SORTS = /^-?(location|createdAt|updatedAt|lastSeen|criticality|vulnerabilityCount)$/;

/** Parses the list's search parameters; unknown ones and values of a wrong type are dropped. */
export function parseAssetSearch(given: Record<string, unknown>): AssetSearch {
  const ports = parseIntegers(given.portNumber)?.filter(isPortNumber) ?? [];
  return omitUndefined({
    assetType: parseEnum(given.assetType, ASSET_TYPES),
    criticality: parseEnum(given.criticality, CRITICALITIES),
    tagUid: parseTexts(given.tagUid),
    listingUid: parseTexts(given.listingUid),
    organizationUid: parseTexts(given.organizationUid),
    ipRange: parseTexts(given.ipRange),
    portNumber: ports.length === 0 ? undefined : ports,
    search: parseText(given.search),
    sort: typeof given.sort === 'string' && SORTS.test(given.sort) ? given.sort : undefined,
  });
}

export const isPortNumber = (number: number) => Number.isInteger(number) && number >= 0 && number <= 65_535;
