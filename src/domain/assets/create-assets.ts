import type { Act, Caller } from '../../auth/callers.ts';
import { ASSET_WRITE_SCOPES, type Reach } from '../../auth/scopes.ts';
import type { Transaction } from '../../db/engine.ts';
import { isOneOf } from '../../db/dialect-sql.ts';
import { locationOf } from './asset-locations.ts';
import { ASSET_COLUMNS, type Asset, completeAssets } from './read-asset.ts';
import {
  addAssets,
  type AssetToAdd,
  type AssetValues,
  hasLocation,
  looseNameFault,
  newAssetUids,
  type NewAsset,
  takenLocation,
} from './insert-assets.ts';
import { listNewAssets } from '../assessments/update-listing.ts';
import { type Fault, invalid } from '../shared/errors.ts';
import { nameFault } from '../shared/names.ts';
import { listingWithin, organizationWithin, reachOfCaller, reachParameters } from '../shared/visibility.ts';

/** An asset that a caller wants. */
export interface AssetWish extends Omit<NewAsset, 'name'> {
  name?: string | undefined;
  /** A listing that it is to be in. */
  listing?: string | undefined;
}

interface Placed {
  uid: string;
  organizationId: number;
  listing: { id: number; uid: string } | undefined;
  values: AssetValues;
}

/**
 * Operation 74: creates assets; all or none.
 * @param wishes one, or as many as the request may have
 * @param at before the name of a property, for the fault of the wish with this index
 * @returns the assets in the order of the wishes
 * @throws Failure `invalid` for what no asset may have, for an organization or a listing out of reach, for an asset that
 *   the caller could not change and for two at one location, `conflict` for a location that is taken
 */
export async function createAssets(
  tx: Transaction,
  act: Act<Caller>,
  wishes: readonly AssetWish[],
  at: (index: number) => string,
): Promise<Asset[]> {
  const values = valuesOf(wishes, at);
  const places = await findPlaces(tx, act.actor, wishes);
  const uids = newAssetUids(wishes.length, act.now);
  const faults: Fault[] = [];
  const placed = wishes.flatMap((wish, index): Placed[] => {
    const found = placeOf(places, wish, (property) => at(index) + property);
    if ('message' in found) {
      faults.push(found);
      return [];
    }
    return [{ ...found, uid: uids[index] as string, values: values[index] as AssetValues }];
  });
  if (faults.length > 0) throw invalid(faults);
  refuseDoubles(placed, at);

  const ids = await addAssets(
    tx,
    act,
    placed.map(({ uid, organizationId, values: own }): AssetToAdd => ({ uid, organizationId, values: own })),
  );
  const taken = placed.flatMap((asset, index) => (ids.has(asset.uid) ? [] : [{ asset, index }]));
  const [first] = taken;
  if (first !== undefined)
    throw takenLocation(
      first.asset.values,
      taken.map(({ asset, index }) => ({
        property: `${at(index)}${hasLocation(asset.values.type) ? 'location' : 'name'}`,
        message: 'is taken already',
        value: asset.values.location,
      })),
    );
  const listed = new Map<string, { id: number; uid: string }[]>();
  for (const { uid, listing } of placed) {
    if (listing === undefined) continue;
    const assets = listed.get(listing.uid) ?? [];
    listed.set(listing.uid, assets);
    assets.push({ id: ids.get(uid) as number, uid });
  }
  for (const [uid, assets] of listed) await listNewAssets(tx, act, uid, assets);
  return readCreated(tx, act.actor, uids);
}

/** @throws Failure `invalid` for what no asset may have */
function valuesOf(wishes: readonly AssetWish[], at: (index: number) => string): AssetValues[] {
  const faults: Fault[] = [];
  const values = wishes.map((wish, index) => {
    const {
      type,
      name = '',
      location,
      description = '',
      criticality = 'undefined',
      writableBy = 'any',
    } = wish;
    const made = describeAsset({ type, name, location }, (property) => at(index) + property);
    faults.push(...made.faults);
    return {
      type,
      location: made.location,
      name: name.trim(),
      description,
      criticality,
      writable_by: writableBy,
    };
  });
  if (faults.length > 0) throw invalid(faults);
  return values;
}

/**
 * @param path of a property of the asset, for its fault
 * @returns the one form of what an asset is known by, and what is wrong with its name and its location
 */
export function describeAsset(
  { type, name, location }: { type: AssetValues['type']; name: string; location: string | undefined },
  path: (property: string) => string,
): { location: string; faults: Fault[] } {
  if (!hasLocation(type)) {
    const faults = [nameFault(path('name'), name)].filter((fault) => fault !== undefined);
    const clean = name.trim();
    if (location !== undefined && location.trim() !== clean) {
      const message = 'is the name of an asset of this type, and may be left out';
      faults.push({ property: path('location'), message, value: location });
    }
    return { location: clean, faults };
  }
  const faults = [looseNameFault(path('name'), name)].filter((fault) => fault !== undefined);
  if (location === undefined) {
    faults.push({ property: path('location'), message: 'is required' });
    return { location: '', faults };
  }
  const placed = locationOf(type, location);
  if ('location' in placed) return { location: placed.location, faults };
  faults.push({ property: path('location'), message: placed.wrong, value: location });
  return { location: '', faults };
}

interface Places {
  rules: readonly Reach[];
  /** By uid, those within reach. */
  organizations: ReadonlyMap<string, number>;
  listings: ReadonlyMap<string, { id: number; uid: string; organization_id: number }>;
}

async function findPlaces(tx: Transaction, caller: Caller, wishes: readonly AssetWish[]): Promise<Places> {
  const reach = reachOfCaller(caller, ASSET_WRITE_SCOPES);
  const p = reachParameters(caller);
  const organizationUids = [...new Set(wishes.map(({ organization }) => organization))];
  const listingUids = [...new Set(wishes.flatMap(({ listing }) => listing ?? []))];
  const [organizations, listings] = await Promise.all([
    tx
      .selectFrom('organizations')
      .select(['id', 'uid'])
      .where((eb) => isOneOf(tx, eb.ref('uid'), organizationUids))
      .where('kind', '=', 'organization')
      .where(organizationWithin(reach, p))
      .execute(),
    listingUids.length === 0
      ? []
      : tx
          .selectFrom('assessments')
          .select(['id', 'uid', 'organization_id'])
          .where((eb) => isOneOf(tx, eb.ref('uid'), listingUids))
          .where(listingWithin(reach, p))
          .execute(),
  ]);
  return {
    rules: reach.rules,
    organizations: new Map(organizations.map(({ id, uid }) => [uid, id])),
    listings: new Map(listings.map((listing) => [listing.uid, listing])),
  };
}

/** @returns where the asset comes to be, or what is wrong with that */
function placeOf(
  { rules, organizations, listings }: Places,
  { organization, listing: listingUid, writableBy = 'any' }: AssetWish,
  path: (property: string) => string,
): Fault | Pick<Placed, 'organizationId' | 'listing'> {
  const organizationId = organizations.get(organization);
  if (organizationId === undefined) {
    const message = 'is not the uid of an organization that you can reach';
    return { property: path('organization'), message, value: organization };
  }
  const listing = listingUid === undefined ? undefined : listings.get(listingUid);
  if (listingUid !== undefined && listing?.organization_id !== organizationId) {
    const message = 'is not the uid of a listing of the organization that you can reach';
    return { property: path('listing'), message, value: listingUid };
  }
  const wide = rules.filter(({ level }) => level !== 'listing');
  if (wide.length === 0 && listing === undefined)
    return { property: path('listing'), message: 'is required: your token has scopes for listings alone' };
  const covering = listing === undefined ? wide : rules;
  if (!covering.some((rule) => mayWrite(rule, writableBy))) {
    const message = 'would leave you an asset that you cannot change';
    return { property: path('writableBy'), message, value: writableBy };
  }
  return { organizationId, listing: listing && { id: listing.id, uid: listing.uid } };
}

/** @returns whether what the rule reaches may be changed by it when it is writable so */
export function mayWrite({ writableBy }: Reach, asset: AssetValues['writable_by']): boolean {
  return writableBy === null || writableBy.includes(asset);
}

/** @throws Failure `invalid` for what is in the request twice */
function refuseDoubles(assets: readonly Placed[], at: (index: number) => string): void {
  const seen = new Set<string>();
  const faults = assets.flatMap(({ organizationId, values: { type, location } }, index): Fault[] => {
    const key = `${organizationId} ${type} ${location}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    const property = `${at(index)}${hasLocation(type) ? 'location' : 'name'}`;
    return [{ property, message: 'is in the request more than once', value: location }];
  });
  if (faults.length > 0) throw invalid(faults);
}

async function readCreated(tx: Transaction, caller: Caller, uids: readonly string[]): Promise<Asset[]> {
  const rows = await tx
    .selectFrom('assets')
    .select(ASSET_COLUMNS)
    .where((eb) => isOneOf(tx, eb.ref('uid'), uids))
    .execute();
  const assets = await completeAssets({ db: tx, caller }, rows);
  const byUid = new Map(assets.map((asset) => [asset.uid, asset]));
  return uids.map((uid) => byUid.get(uid) as Asset);
}
