import { ASSET_TYPES, type AssetSearch, CRITICALITIES, type Criticality } from '../../queries/assets.ts';

const SORTS = /^-?(location|createdAt|updatedAt|lastSeen|criticality|vulnerabilityCount)$/;

/** Reads the list's address; what is none of its parameters, or of the wrong kind, is left out. */
export function parseAssetSearch(given: Record<string, unknown>): AssetSearch {
  const list = (name: string): unknown[] =>
    given[name] === undefined ? [] : Array.isArray(given[name]) ? given[name] : [given[name]];
  const found: Record<string, unknown> = {};
  const keep = (name: string, values: readonly unknown[]) => {
    if (values.length > 0) found[name] = values;
  };
  keep(
    'assetType',
    list('assetType').filter((type) => typeof type === 'string' && Object.hasOwn(ASSET_TYPES, type)),
  );
  keep(
    'criticality',
    list('criticality').filter((value) => CRITICALITIES.includes(value as Criticality)),
  );
  for (const name of ['tagUid', 'listingUid', 'organizationUid', 'ipRange'])
    keep(name, list(name).map(String));
  keep('portNumber', list('portNumber').map(Number).filter(isPortNumber));
  if ((typeof given.search === 'string' || typeof given.search === 'number') && given.search !== '')
    found.search = String(given.search);
  if (typeof given.sort === 'string' && SORTS.test(given.sort)) found.sort = given.sort;
  return found;
}

/** Whether a number is one of a port. */
export const isPortNumber = (number: number) => Number.isInteger(number) && number >= 0 && number <= 65_535;
