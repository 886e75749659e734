import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { ASSET_WRITE_SCOPES, type ScopeRule } from '../../auth/scopes.ts';
import type { Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { normalizeLocation } from './asset-locations.ts';
import { ASSET_COLUMNS, type Asset, hydrateAssets } from './read-asset.ts';
import {
  insertAssets,
  type AssetInsert,
  type AssetValues,
  hasLocation,
  locationProperty,
  newAssetUids,
  type NewAsset,
  locationConflict,
} from './insert-assets.ts';
import { findHiddenConflict } from './hidden-locations.ts';
import { addNewAssetsToListing } from '../assessments/update-listing.ts';
import { type DomainError, type FieldError, invalidInput } from '../shared/errors.ts';
import { validateName, validateOptionalName } from '../shared/names.ts';
import type { PartialInput } from '../shared/partial-input.ts';
import { permissionError } from '../shared/permissions.ts';
import {
  assessmentIsVisible,
  organizationIsVisible,
  visibilityByScopes,
  visibilityParameters,
} from '../shared/visibility.ts';

/** The input of operation 74. */
export interface AssetInput extends Omit<NewAsset, 'name'> {
  name?: string | undefined;
  /** The uid of a listing to add it to. */
  listing?: string | undefined;
}

interface ResolvedAsset {
  uid: string;
  organizationId: number;
  listing: { id: number; uid: string } | undefined;
  values: AssetValues;
}

/**
 * Creates assets, all or none (operation 74).
 * @param prefixOf returns the prefix of an asset's properties, for errors
 * @param uids the uids of the assets, in order
 * @returns the assets in the order of the input, or the `conflict` of `findHiddenConflict`
 * @throws DomainError `invalid` for invalid fields, an organization or listing that the caller cannot see, an asset
 *   that the caller could not change, and two at one location; `forbidden` for a listing that they can only read;
 *   `conflict` for a location that is taken, `rate-limited`
 */
export async function createAssets(
  tx: Transaction,
  by: ChangeContext<Caller>,
  inputs: readonly AssetInput[],
  prefixOf: (index: number) => string,
  uids = newAssetUids(inputs.length, by.now),
): Promise<Asset[] | DomainError> {
  const resolved = await resolveInputs(tx, by.actor, inputs, prefixOf, uids);
  const hidden = await findHiddenConflict(
    tx,
    by,
    resolved.map(({ organizationId, values }, index) => ({
      organizationId,
      values,
      property: prefixOf(index) + locationProperty(values.type),
    })),
  );
  if (hidden !== undefined) return hidden;
  const ids = await insertAssets(
    tx,
    by,
    resolved.map(({ uid, organizationId, values: own }): AssetInsert => ({
      uid,
      organizationId,
      values: own,
    })),
  );
  const conflicts = resolved.flatMap((asset, index) => (ids.has(asset.uid) ? [] : [{ asset, index }]));
  const [first] = conflicts;
  if (first !== undefined)
    throw locationConflict(
      first.asset.values,
      conflicts.map(({ asset, index }) => ({
        property: prefixOf(index) + locationProperty(asset.values.type),
        code: 'taken',
        value: asset.values.location,
      })),
    );
  const listed = new Map<string, { id: number; uid: string }[]>();
  for (const { uid, listing } of resolved) {
    if (listing === undefined) continue;
    const assets = listed.get(listing.uid) ?? [];
    listed.set(listing.uid, assets);
    assets.push({ id: ids.get(uid) as number, uid });
  }
  for (const [uid, assets] of listed) await addNewAssetsToListing(tx, by, uid, assets);
  return readCreated(tx, by.actor, uids);
}

/** @throws DomainError `invalid` */
async function resolveInputs(
  tx: Transaction,
  caller: Caller,
  inputs: readonly AssetInput[],
  prefixOf: (index: number) => string,
  uids: readonly string[],
): Promise<ResolvedAsset[]> {
  const { locations, errors } = normalizeLocations(inputs, prefixOf);
  if (errors.length > 0) throw invalidInput(errors);
  const targets = await findTargets(tx, caller, inputs);
  const resolved = inputs.flatMap((input, index): ResolvedAsset[] => {
    const target = resolveTarget(targets, input, (property) => prefixOf(index) + property);
    if ('code' in target) {
      errors.push(target);
      return [];
    }
    return [{ ...target, uid: uids[index] as string, values: valuesOf(input, locations[index] as string) }];
  });
  if (errors.length > 0) throw invalidInput(errors);
  if ([...targets.listings.values()].some(({ isWritable }) => !isWritable))
    throw permissionError('write_assets');
  return resolved;
}

/**
 * Validates names and locations without the database, and that no location is repeated.
 * @param prefixOf returns the prefix of an asset's properties, for errors
 * @returns the errors, in the order of the assets
 */
export function validateNewAssets(
  inputs: readonly PartialInput<AssetInput>[],
  prefixOf: (index: number) => string,
): FieldError[] {
  return normalizeLocations(inputs, prefixOf).errors;
}

/** @returns the location of each asset, and the errors of `validateNewAssets` */
function normalizeLocations(
  inputs: readonly PartialInput<AssetInput>[],
  prefixOf: (index: number) => string,
): { locations: string[]; errors: FieldError[] } {
  const seenKeys = new Set<string>();
  const errors: FieldError[] = [];
  const locations = inputs.map(({ organization, type, name = '', location: input }, index) => {
    const path = (property: string) => prefixOf(index) + property;
    const { location, errors: issues } = validateNameAndLocation({ type, name, location: input }, path);
    errors.push(...issues);
    if (organization === undefined || type === undefined) return location;
    const property = path(locationProperty(type));
    if (issues.some((error) => error.property === property)) return location;
    const key = `${organization} ${type} ${location}`;
    if (seenKeys.has(key)) errors.push({ property, code: 'duplicate', value: location });
    seenKeys.add(key);
    return location;
  });
  return { locations, errors };
}

function valuesOf(input: AssetInput, location: string): AssetValues {
  const { type, name = '', description = '', criticality = 'undefined', writableBy = 'any' } = input;
  return { type, location, name: name.trim(), description, criticality, writable_by: writableBy };
}

/**
 * @param input without a type, only the rule for names is checked
 * @param path returns the path of a property, for errors
 * @param stored the stored name, which is accepted unchanged
 * @returns the normalized location, and the errors of name and location
 */
export function validateNameAndLocation(
  {
    type,
    name,
    location,
  }: { type: AssetValues['type'] | undefined; name: string; location: string | undefined },
  path: (property: string) => string,
  stored?: string,
): { location: string; errors: FieldError[] } {
  const validate = type === undefined || hasLocation(type) ? validateOptionalName : validateName;
  const error = name === stored ? undefined : validate(path('name'), name);
  const errors = error === undefined ? [] : [error];
  if (type === undefined) return { location: '', errors };
  if (!hasLocation(type)) {
    const clean = name.trim();
    if (error === undefined && location !== undefined && location.trim() !== clean) {
      errors.push({ property: path('location'), code: 'differs-from-name', value: location });
    }
    return { location: clean, errors };
  }
  if (location === undefined) {
    errors.push({ property: path('location'), code: 'required' });
    return { location: '', errors };
  }
  const result = normalizeLocation(type, location);
  if ('location' in result) return { location: result.location, errors };
  errors.push({ property: path('location'), ...result.error, value: location });
  return { location: '', errors };
}

interface VisibleTargets {
  rules: readonly ScopeRule[];
  /** Visible ones, by uid. */
  organizations: ReadonlyMap<string, number>;
  listings: ReadonlyMap<
    string,
    { id: number; uid: string; organization_id: number; isWritable: number | boolean }
  >;
}

async function findTargets(
  tx: Transaction,
  caller: Caller,
  inputs: readonly AssetInput[],
): Promise<VisibleTargets> {
  const visibility = visibilityByScopes(caller, ASSET_WRITE_SCOPES, 'write_assets');
  const readable = visibilityByScopes(caller, ASSET_WRITE_SCOPES, 'read');
  const p = visibilityParameters(caller);
  const organizationUids = [...new Set(inputs.map(({ organization }) => organization))];
  const listingUids = [...new Set(inputs.flatMap(({ listing }) => listing ?? []))];
  const [organizations, listings] = await Promise.all([
    tx
      .selectFrom('organizations')
      .select(['id', 'uid'])
      .where((eb) => inList(tx, eb.ref('uid'), organizationUids))
      .where('kind', '=', 'organization')
      .where(organizationIsVisible(readable, p))
      .execute(),
    listingUids.length === 0
      ? []
      : tx
          .selectFrom('assessments')
          .select(['id', 'uid', 'organization_id'])
          .select(assessmentIsVisible(visibility, p).as('isWritable'))
          .where((eb) => inList(tx, eb.ref('uid'), listingUids))
          .where(assessmentIsVisible(readable, p))
          .execute(),
  ]);
  return {
    rules: visibility.rules,
    organizations: new Map(organizations.map(({ id, uid }) => [uid, id])),
    listings: new Map(listings.map((listing) => [listing.uid, listing])),
  };
}

/** @returns the organization and listing of the asset, or an error */
function resolveTarget(
  { rules, organizations, listings }: VisibleTargets,
  { organization, listing: listingUid, writableBy = 'any' }: AssetInput,
  path: (property: string) => string,
): FieldError | Pick<ResolvedAsset, 'organizationId' | 'listing'> {
  const organizationId = organizations.get(organization);
  if (organizationId === undefined)
    return { property: path('organization'), code: 'inaccessible-organization', value: organization };
  const listing = listingUid === undefined ? undefined : listings.get(listingUid);
  if (listingUid !== undefined && listing?.organization_id !== organizationId)
    return { property: path('listing'), code: 'inaccessible-listing', value: listingUid };
  const organizationRules = rules.filter(({ level }) => level !== 'listing');
  if (organizationRules.length === 0 && listing === undefined)
    return { property: path('listing'), code: 'listing-required' };
  const applicableRules = listing === undefined ? organizationRules : rules;
  if (!applicableRules.some((rule) => canWrite(rule, writableBy)))
    return { property: path('writableBy'), code: 'locks-you-out', value: writableBy };
  return { organizationId, listing: listing && { id: listing.id, uid: listing.uid } };
}

/** @returns whether the rule allows changes of an asset with this `writable_by` */
export function canWrite({ writableBy }: ScopeRule, assetWritableBy: AssetValues['writable_by']): boolean {
  return writableBy === null || writableBy.includes(assetWritableBy);
}

async function readCreated(tx: Transaction, caller: Caller, uids: readonly string[]): Promise<Asset[]> {
  const rows = await tx
    .selectFrom('assets')
    .select(ASSET_COLUMNS)
    .where((eb) => inList(tx, eb.ref('uid'), uids))
    .execute();
  const assets = await hydrateAssets({ db: tx, caller }, rows);
  const byUid = new Map(assets.map((asset) => [asset.uid, asset]));
  return uids.map((uid) => byUid.get(uid) as Asset);
}
