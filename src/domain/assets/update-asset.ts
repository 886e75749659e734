import type { Act, Caller } from '../../auth/callers.ts';
import { ASSET_DELETE_SCOPES, ASSET_WRITE_SCOPES, type Scope } from '../../auth/scopes.ts';
import { type Transaction } from '../../db/engine.ts';
import { holdingRows } from '../../db/dialect-sql.ts';
import { describeAsset, mayWrite } from './create-assets.ts';
import { addressKey } from './asset-locations.ts';
import { ASSET_COLUMNS, ASSET_UID, type Asset, type AssetRow, completeAssets } from './read-asset.ts';
import { type AssetValues, hasLocation, takenLocation } from './insert-assets.ts';
import { countedPorts } from './ports.ts';
import { recordChange } from '../audit/record-event.ts';
import { Failure, invalid, missing } from '../shared/errors.ts';
import { searchKey } from '../lists/filters.ts';
import { assetWithin, reachOfCaller, reachParameters } from '../shared/visibility.ts';
import { addTallies, forgetTallies } from '../shared/counters.ts';
import { type Expected, requireVersion } from '../shared/versions.ts';

/** What a merge patch changes; `null` sets back to what a new asset has. */
export interface AssetPatch {
  location?: string | null | undefined;
  name?: string | null | undefined;
  description?: string | null | undefined;
  criticality?: AssetValues['criticality'] | null | undefined;
  writableBy?: AssetValues['writable_by'] | null | undefined;
}

/**
 * Operation 77. Nothing is written where nothing changes.
 * @throws Failure `missing` for an asset that the caller may not change, `changed`, `invalid`, `conflict` for a location
 *   that another asset has
 */
export async function changeAsset(
  tx: Transaction,
  act: Act<Caller>,
  uid: string,
  patch: AssetPatch,
  expected: Expected | undefined,
): Promise<Asset> {
  const { actor: caller, now } = act;
  const row = await holdAsset(tx, caller, uid, ASSET_WRITE_SCOPES);
  requireVersion(expected, row.version);
  // The table holds no others.
  const type = row.type as AssetValues['type'];
  const name = (patch.name === undefined ? row.name : (patch.name ?? '')).trim();
  const located = hasLocation(type);
  const wanted = patch.location === undefined ? (located ? row.location : undefined) : patch.location;
  const { location, faults } = describeAsset({ type, name, location: wanted ?? undefined }, (path) => path);
  const writable_by =
    patch.writableBy === undefined
      ? (row.writable_by as AssetValues['writable_by'])
      : (patch.writableBy ?? 'any');
  if (writable_by !== row.writable_by && !(await staysWritable(tx, caller, row.id, writable_by)))
    faults.push({
      property: 'writableBy',
      message: 'would leave you an asset that you cannot change',
      value: writable_by,
    });
  if (faults.length > 0) throw invalid(faults);
  const after = {
    location,
    name,
    description: patch.description === undefined ? row.description : (patch.description ?? ''),
    criticality:
      patch.criticality === undefined
        ? (row.criticality as AssetValues['criticality'])
        : (patch.criticality ?? 'undefined'),
    writable_by,
  };
  const changed = (Object.keys(after) as (keyof typeof after)[]).filter((key) => after[key] !== row[key]);
  if (changed.length > 0) {
    const taken =
      location !== row.location &&
      (await tx
        .selectFrom('assets')
        .select('id')
        .where('organization_id', '=', row.organization_id)
        .where('type', '=', type)
        .where('location', '=', location)
        .executeTakeFirst()) !== undefined;
    if (taken)
      throw takenLocation({ ...after, type }, [
        { property: located ? 'location' : 'name', message: 'is taken already', value: location },
      ]);
    await tx
      .updateTable('assets')
      .set({
        ...after,
        location_key: searchKey(location),
        name_key: searchKey(name),
        address_key: type === 'host' ? addressKey(location) : null,
        updated_at: now,
        version: row.version + 1,
      })
      .where('id', '=', row.id)
      .execute();
    await recordChange(tx, act, {
      action: 'asset.update',
      object: ['asset', uid],
      organizationId: row.organization_id,
      before: Object.fromEntries(changed.map((key) => [key, row[key]])),
      after: Object.fromEntries(changed.map((key) => [key, after[key]])),
    });
  }
  const changedRow = await tx
    .selectFrom('assets')
    .select(ASSET_COLUMNS)
    .where('id', '=', row.id)
    .executeTakeFirstOrThrow();
  const [asset] = await completeAssets({ db: tx, caller }, [changedRow]);
  return asset as Asset;
}

/** Finds an asset that the caller may write by these scopes, and keeps others from changing it. */
async function holdAsset(
  tx: Transaction,
  caller: Caller,
  uid: string,
  scopes: readonly Scope[],
): Promise<AssetRow> {
  const row = ASSET_UID.test(uid)
    ? await tx
        .selectFrom('assets')
        .select(ASSET_COLUMNS)
        .where('assets.uid', '=', uid)
        .where(assetWithin(reachOfCaller(caller, scopes), reachParameters(caller)))
        .modifyEnd(holdingRows(tx))
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw missing('asset');
  return row;
}

/** Whether the caller reaches the asset by a scope that may write what is writable so. */
async function staysWritable(
  tx: Transaction,
  caller: Caller,
  id: number,
  writableBy: AssetValues['writable_by'],
): Promise<boolean> {
  const reach = reachOfCaller(caller, ASSET_WRITE_SCOPES);
  const rules = reach.rules
    .filter((rule) => mayWrite(rule, writableBy))
    .map(({ level }) => ({ level, writableBy: null }));
  const row = await tx
    .selectFrom('assets')
    .select('id')
    .where('id', '=', id)
    .where(assetWithin({ ...reach, rules }, reachParameters(caller)))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Operation 78: deletes an asset with its ports, its scope rules and its taggings, and takes it off every vulnerability.
 * @throws Failure `missing`, `changed`, `conflict` while an active assessment lists it
 */
export async function deleteAsset(
  tx: Transaction,
  act: Act<Caller>,
  uid: string,
  expected: Expected | undefined,
): Promise<void> {
  const { actor: caller } = act;
  const row = await holdAsset(tx, caller, uid, ASSET_DELETE_SCOPES);
  requireVersion(expected, row.version);
  const listing = await tx
    .selectFrom('listing_assets')
    .innerJoin('assessments', 'assessments.id', 'listing_assets.assessment_id')
    .select('assessments.uid')
    .where('listing_assets.asset_id', '=', row.id)
    .where('assessments.state', '=', 'active')
    .orderBy('assessments.uid')
    .limit(1)
    .executeTakeFirst();
  if (listing !== undefined)
    throw new Failure(
      'conflict',
      `The assessment ${listing.uid}, which is active, lists the asset. Take it off the listing first.`,
    );
  const [asset] = await completeAssets({ db: tx, caller }, [row]);
  await forgetTallies(tx, 'asset', row.id);
  await addTallies(tx, await countedPorts(tx, row.id, -1));
  await tx.deleteFrom('assets').where('id', '=', row.id).execute();
  await recordChange(tx, act, {
    action: 'asset.delete',
    object: ['asset', uid],
    organizationId: row.organization_id,
    before: {
      type: row.type,
      location: row.location,
      name: row.name,
      description: row.description,
      criticality: row.criticality,
      writable_by: row.writable_by,
      tags: asset?.tags.map(({ name }) => name) ?? [],
      listings: asset?.listings ?? [],
      open_ports: asset?.openPorts ?? 0,
      created_at: row.created_at,
    },
    after: null,
  });
}
