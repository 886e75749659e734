import { randomBytes } from 'node:crypto';
import type { Act } from '../../auth/callers.ts';
import { prepareInsert, type Row } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import { isOneOf } from '../../db/dialect-sql.ts';
import { prepare } from '../../db/prepared-queries.ts';
import { addressKey, locationOf } from './asset-locations.ts';
import { recordChanges } from '../audit/record-event.ts';
import { Failure, type Fault, invalid } from '../shared/errors.ts';
import { searchKey } from '../lists/filters.ts';
import { cleanName, MAX_NAME_LENGTH } from '../shared/names.ts';
import { organizationByUid } from '../organizations/organizations.ts';
import type { ASSET_TYPES, CRITICALITIES, WRITERS } from './asset-enums.ts';

export interface NewAsset {
  organization: string;
  type: (typeof ASSET_TYPES)[number];
  name: string;
  /** What a host or a web application is known by: anything that `locationOf` takes. Others are known by their name. */
  location?: string | undefined;
  description?: string | undefined;
  criticality?: (typeof CRITICALITIES)[number] | undefined;
  /** Which users may modify it; `any` unless told. */
  writableBy?: (typeof WRITERS)[number] | undefined;
}

/** What an asset is created with, in its one form. */
export interface AssetValues {
  type: (typeof ASSET_TYPES)[number];
  location: string;
  name: string;
  description: string;
  criticality: (typeof CRITICALITIES)[number];
  writable_by: (typeof WRITERS)[number];
}

/**
 * @param now milliseconds since 1970
 * @returns uids for new assets: 24 lowercase hexadecimal characters, which are the time in seconds and then random, so
 *   that assets made together lie together in the index and many of them are quickly written
 */
export function newAssetUids(count: number, now: number): string[] {
  const time = Math.floor(now / 1_000)
    .toString(16)
    .padStart(8, '0')
    .slice(-8);
  const digits = randomBytes(8 * count).toString('hex');
  return Array.from({ length: count }, (_, index) => time + digits.slice(16 * index, 16 * (index + 1)));
}

/** @returns what is wrong with the name of an asset that is known by something else, and so may have none */
export function looseNameFault(property: string, name: string): Fault | undefined {
  return [...name.trim()].length > MAX_NAME_LENGTH
    ? { property, message: `must have at most ${MAX_NAME_LENGTH} characters`, value: name }
    : undefined;
}

/** @returns whether an asset of this type has a location of its own, and is not known by its name */
export function hasLocation(type: string): boolean {
  return type === 'host' || type === 'webapp';
}

/**
 * Creates an asset, without asking who may.
 * @param uid of its own unless given
 * @throws Failure `invalid` for an unknown organization, a bad name or location, `conflict` for a location that one has
 */
export async function createAsset(
  tx: Transaction,
  act: Act,
  input: NewAsset,
  uid = newAssetUids(1, act.now)[0] ?? '',
): Promise<{ id: number; uid: string }> {
  const located = hasLocation(input.type);
  const name = located ? input.name.trim() : cleanName('name', input.name);
  const placed = locationOf(input.type, located ? (input.location ?? '') : name);
  const nameFault = looseNameFault('name', name);
  if (nameFault !== undefined) throw invalid(nameFault);
  if ('wrong' in placed)
    throw invalid({ property: 'location', message: placed.wrong, value: input.location });
  const organization = await organizationByUid(tx, input.organization);
  if (organization === undefined) {
    throw invalid({
      property: 'organization',
      message: 'is not the uid of an organization',
      value: input.organization,
    });
  }
  const values: AssetValues = {
    type: input.type,
    location: placed.location,
    name,
    description: input.description ?? '',
    criticality: input.criticality ?? 'undefined',
    writable_by: input.writableBy ?? 'any',
  };
  const ids = await addAssets(tx, act, [{ uid, organizationId: organization.id, values }]);
  const id = ids.get(uid);
  if (id === undefined) throw takenLocation(values);
  return { id, uid };
}

/** @returns the failure that an organization has an asset of this type there already */
export function takenLocation({ type, location }: AssetValues, faults: readonly Fault[] = []): Failure {
  const what =
    { host: 'host', webapp: 'web application', network: 'network' }[type as string] ?? 'such asset';
  return new Failure('conflict', `The organization has a ${what} at ${location} already.`, faults);
}

export interface AssetToAdd {
  uid: string;
  organizationId: number;
  values: AssetValues;
  /** Which import makes it, and when a scan saw it, in milliseconds since 1970. */
  importId?: number | undefined;
  seenAt?: number | undefined;
}

/**
 * Writes assets and the events of their creation; those whose location is taken are left out.
 * @returns the ids, by uid, of those that were written
 */
export async function addAssets(
  tx: Transaction,
  act: Act,
  assets: readonly AssetToAdd[],
): Promise<ReadonlyMap<string, number>> {
  await insertAssets(
    tx,
    assets.map(({ uid, organizationId, values, importId = null, seenAt = null }): Row => [
      uid,
      organizationId,
      values.type,
      values.location,
      values.name,
      searchKey(values.location),
      searchKey(values.name),
      values.type === 'host' ? addressKey(values.location) : null,
      values.description,
      values.criticality,
      values.writable_by,
      act.now,
      act.now,
      importId,
      seenAt,
      seenAt,
    ]),
  );
  const rows = await idsByUid(tx, { uids: assets.map(({ uid }) => uid) });
  const ids = new Map(rows.map(({ id, uid }) => [uid, id]));
  await recordChanges(
    tx,
    assets.flatMap(({ uid, organizationId, values }) =>
      ids.has(uid)
        ? [
            {
              act,
              change: {
                action: 'asset.create' as const,
                object: ['asset', uid] as const,
                organizationId,
                before: null,
                after: values,
              },
            },
          ]
        : [],
    ),
  );
  return ids;
}

const insertAssets = prepareInsert(
  'assets',
  {
    uid: 'text',
    organization_id: 'int',
    type: 'text',
    location: 'text',
    name: 'text',
    location_key: 'text',
    name_key: 'text',
    address_key: 'text',
    description: 'text',
    criticality: 'text',
    writable_by: 'text',
    created_at: 'int',
    updated_at: 'int',
    import_id: 'int',
    first_seen: 'int',
    last_seen: 'int',
  },
  'on conflict (organization_id, type, location) do nothing',
);

const idsByUid = prepare<{ uids: readonly string[] }, { id: number; uid: string }>((db, p) =>
  db
    .selectFrom('assets')
    .select(['id', 'uid'])
    .where((eb) => isOneOf(db, eb.ref('uid'), p.uids)),
);
