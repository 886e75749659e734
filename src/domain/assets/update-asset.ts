import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { ASSET_DELETE_SCOPES, ASSET_WRITE_SCOPES, type Scope } from '../../auth/scopes.ts';
import { type Transaction } from '../../db/database.ts';
import { validateNameAndLocation, canWrite } from './create-assets.ts';
import { addressKey } from '../../auth/ip-addresses.ts';
import { ASSET_COLUMNS, ASSET_UID, type Asset, type AssetRow, hydrateAssets } from './read-asset.ts';
import { type AssetValues, hasLocation, locationConflict, locationProperty } from './insert-assets.ts';
import { findHiddenConflict } from './hidden-locations.ts';
import { readPortDeltas } from './ports.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, type FieldError, invalidInput, notFound } from '../shared/errors.ts';
import { validateOptionalNameLength } from '../shared/names.ts';
import { assetOnlyRead } from '../shared/permissions.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import { visibilityByScopes, visibilityParameters } from '../shared/visibility.ts';
import { addDeltas, deleteCounters } from '../shared/counters.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { foldCase } from '../../lib/fold-case.ts';
import { forNoKeyUpdate, forUpdate, type RowLock } from '../../db/dialect-sql.ts';

/** A merge patch. `null` restores the default. */
export interface AssetPatch {
  location?: string | null | undefined;
  name?: string | null | undefined;
  description?: string | null | undefined;
  criticality?: AssetValues['criticality'] | null | undefined;
  writableBy?: AssetValues['writable_by'] | null | undefined;
}

/** @returns the errors that do not depend on the stored asset */
export function validateAssetPatch({ name }: AssetPatch): FieldError[] {
  return [validateOptionalNameLength('name', name ?? '')].filter((error) => error !== undefined);
}

/**
 * Updates an asset (operation 77). Writes nothing if no value differs.
 * @returns the asset, or the error for a conflict with an asset that the caller cannot see. That error is returned, so
 *   that the transaction commits its count for the rate limit
 * @throws DomainError `not-found` for an asset that the caller cannot change, `version-mismatch`, `invalid`, `conflict`
 *   for a location that another asset has, `rate-limited`
 */
export async function updateAsset(
  tx: Transaction,
  by: ChangeContext<Caller>,
  uid: string,
  patch: AssetPatch,
  expected: ExpectedVersion | undefined,
): Promise<Asset | DomainError> {
  const { actor: caller, now } = by;
  const invalid = validateAssetPatch(patch);
  if (invalid.length > 0) throw invalidInput(invalid);
  const row = await lockAsset(tx, caller, uid, ASSET_WRITE_SCOPES);
  requireVersion(expected, row.version);
  const { type } = row;
  const name = patch.name === undefined ? row.name : (patch.name ?? '').trim();
  const located = hasLocation(type);
  const newLocation = patch.location === undefined ? (located ? row.location : undefined) : patch.location;
  const { location, errors } = validateNameAndLocation(
    { type, name, location: newLocation ?? undefined },
    (path) => path,
    row.name,
  );
  const writable_by = patch.writableBy === undefined ? row.writable_by : (patch.writableBy ?? 'any');
  if (writable_by !== row.writable_by && !(await wouldStayWritable(tx, caller, row.id, writable_by)))
    errors.push({ property: 'writableBy', code: 'locks-you-out', value: writable_by });
  if (errors.length > 0) throw invalidInput(errors);
  const after = {
    location,
    name,
    description: patch.description === undefined ? row.description : (patch.description ?? ''),
    criticality: patch.criticality === undefined ? row.criticality : (patch.criticality ?? 'undefined'),
    writable_by,
  };
  const changed = (Object.keys(after) as (keyof typeof after)[]).filter((key) => after[key] !== row[key]);
  if (changed.length > 0) {
    const isMoved = location !== row.location;
    const property = locationProperty(type);
    if (isMoved) {
      const moved = { organizationId: row.organization_id, values: { ...after, type }, property };
      const hidden = await findHiddenConflict(tx, by, [moved]);
      if (hidden !== undefined) return hidden;
    }
    const isTaken =
      isMoved &&
      (await tx
        .selectFrom('assets')
        .select('id')
        .where('organization_id', '=', row.organization_id)
        .where('type', '=', type)
        .where('location', '=', location)
        .executeTakeFirst()) !== undefined;
    if (isTaken) throw locationConflict({ ...after, type }, [{ property, code: 'taken', value: location }]);
    await tx
      .updateTable('assets')
      .set({
        ...after,
        search_location: foldCase(location),
        search_name: foldCase(name),
        address_hex: type === 'host' ? addressKey(location) : null,
        updated_at: now,
        version: row.version + 1,
      })
      .where('id', '=', row.id)
      .execute();
    await recordEvent(tx, by, {
      action: 'asset.update',
      object: ['asset', uid],
      organizationId: row.organization_id,
      before: Object.fromEntries(changed.map((key) => [key, row[key]])),
      after: Object.fromEntries(changed.map((key) => [key, after[key]])),
    });
  }
  const currentRow = await tx
    .selectFrom('assets')
    .select(ASSET_COLUMNS)
    .where('id', '=', row.id)
    .executeTakeFirstOrThrow();
  const [asset] = await hydrateAssets({ db: tx, caller }, [currentRow]);
  return asset as Asset;
}

/**
 * Locks an asset that the caller may change with one of the scopes.
 * @throws DomainError `not-found`, `forbidden` if their role only lets them read it
 */
async function lockAsset(
  tx: Transaction,
  caller: Caller,
  uid: string,
  scopes: readonly Scope[],
  lock: RowLock = forNoKeyUpdate,
): Promise<AssetRow> {
  const select = (permission: 'read' | 'write_assets') =>
    tx
      .selectFrom('assets')
      .select(ASSET_COLUMNS)
      .where('assets.uid', '=', ASSET_UID.test(uid) ? uid : '')
      .where(assetIsVisible(visibilityByScopes(caller, scopes, permission), visibilityParameters(caller)));
  const row = await select('write_assets').modifyEnd(lock(tx)).executeTakeFirst();
  if (row !== undefined) return row;
  throw (await select('read').executeTakeFirst()) === undefined ? notFound('asset') : assetOnlyRead();
}

/** Whether the caller may still change the asset after `writable_by` is set to `writableBy`. */
async function wouldStayWritable(
  tx: Transaction,
  caller: Caller,
  id: number,
  writableBy: AssetValues['writable_by'],
): Promise<boolean> {
  const visibility = visibilityByScopes(caller, ASSET_WRITE_SCOPES, 'write_assets');
  const rules = visibility.rules
    .filter((rule) => canWrite(rule, writableBy))
    .map(({ level }) => ({ level, writableBy: null }));
  const row = await tx
    .selectFrom('assets')
    .select('id')
    .where('id', '=', id)
    .where(assetIsVisible({ ...visibility, rules }, visibilityParameters(caller)))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Deletes an asset with its ports, scope rules, taggings and links to vulnerabilities (operation 78).
 * @throws DomainError `not-found`, `version-mismatch`, `conflict` while an active assessment lists it
 */
export async function deleteAsset(
  tx: Transaction,
  by: ChangeContext<Caller>,
  uid: string,
  expected: ExpectedVersion | undefined,
): Promise<void> {
  const { actor: caller } = by;
  const row = await lockAsset(tx, caller, uid, ASSET_DELETE_SCOPES, forUpdate);
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
  if (listing !== undefined) throw new DomainError('asset-listed', { assessment: listing.uid });
  const [asset] = await hydrateAssets({ db: tx, caller }, [row]);
  await deleteCounters(tx, 'asset', row.id);
  await addDeltas(tx, await readPortDeltas(tx, row.id, -1));
  await tx.deleteFrom('assets').where('id', '=', row.id).execute();
  await recordEvent(tx, by, {
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
