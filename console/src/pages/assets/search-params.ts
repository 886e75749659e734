import { ASSET_TYPES, type AssetSearch, CRITICALITIES, type Criticality } from '../../queries/assets.ts';

const SORTS = /^-?(location|createdAt|updatedAt|lastSeen|criticality|vulnerabilityCount)$/;

/** Parses the list's search parameters; unknown ones and values of a wrong type are dropped. */
export function parseAssetSearch(given: Record<string, unknown>): AssetSearch {
  const list = (name: string): unknown[] =>
    given[name] === undefined ? [] : Array.isArray(given[name]) ? given[name] : [given[name]];
  const parsed: Record<string, unknown> = {};
  const set = (name: string, values: readonly unknown[]) => {
    if (values.length > 0) parsed[name] = values;
  };
  set(
    'assetType',
    list('assetType').filter((type) => typeof type === 'string' && Object.hasOwn(ASSET_TYPES, type)),
  );
  set(
    'criticality',
    list('criticality').filter((value) => CRITICALITIES.includes(value as Criticality)),
  );
  for (const name of ['tagUid', 'listingUid', 'organizationUid', 'ipRange'])
    set(name, list(name).map(String));
  set('portNumber', list('portNumber').map(Number).filter(isPortNumber));
  if ((typeof given.search === 'string' || typeof given.search === 'number') && given.search !== '')
    parsed.search = String(given.search);
  if (typeof given.sort === 'string' && SORTS.test(given.sort)) parsed.sort = given.sort;
  return parsed;
}

export const isPortNumber = (number: number) => Number.isInteger(number) && number >= 0 && number <= 65_535;
