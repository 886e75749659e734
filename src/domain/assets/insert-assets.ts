import { randomBytes } from 'node:crypto';
import type { ChangeContext } from '../../auth/callers.ts';
import { prepareInsert, type InsertRow } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { addressKey } from '../../auth/ip-addresses.ts';
import { recordEvents } from '../audit/record-event.ts';
import { DomainError, type FieldError } from '../shared/errors.ts';
import type { ASSET_TYPES, CRITICALITIES, WRITABLE_BY } from './asset-enums.ts';
import { foldCase } from '../../lib/fold-case.ts';

export interface NewAsset {
  organization: string;
  type: (typeof ASSET_TYPES)[number];
  name: string;
  /** The location of a host or a web application. Other assets are identified by their name. */
  location?: string | undefined;
  description?: string | undefined;
  criticality?: (typeof CRITICALITIES)[number] | undefined;
  /** Who can change it: `any` by default. */
  writableBy?: (typeof WRITABLE_BY)[number] | undefined;
}

/** Normalized. */
export interface AssetValues {
  type: (typeof ASSET_TYPES)[number];
  location: string;
  name: string;
  description: string;
  criticality: (typeof CRITICALITIES)[number];
  writable_by: (typeof WRITABLE_BY)[number];
}

/**
 * @param now milliseconds since 1970
 * @returns uids of 24 lowercase hexadecimal characters: the time in seconds, then random ones, so that assets
 *   created together are adjacent in the index
 */
export function newAssetUids(count: number, now: number): string[] {
  const time = Math.floor(now / 1_000)
    .toString(16)
    .padStart(8, '0')
    .slice(-8);
  const digits = randomBytes(8 * count).toString('hex');
  return Array.from({ length: count }, (_, index) => time + digits.slice(16 * index, 16 * (index + 1)));
}

/** @returns whether assets of this type are identified by a location, and not by their name */
export function hasLocation(type: string): boolean {
  return type === 'host' || type === 'webapp';
}

/** @returns the property by which assets of this type are identified */
export function locationProperty(type: string): 'location' | 'name' {
  return hasLocation(type) ? 'location' : 'name';
}

export function locationConflict(
  { type, location }: AssetValues,
  errors: readonly FieldError[] = [],
): DomainError {
  const label =
    { host: 'host', webapp: 'web application', network: 'network' }[type as string] ?? 'such asset';
  return new DomainError('location-taken', { label, location }, errors);
}

export interface AssetInsert {
  uid: string;
  organizationId: number;
  values: AssetValues;
  /** The import that creates it, and when the scan saw it, in milliseconds since 1970. */
  importId?: number | undefined;
  seenAt?: number | undefined;
}

/**
 * Inserts assets with their audit events, except those whose location is taken.
 * @returns the ids of the inserted ones, by uid
 */
export async function insertAssets(
  tx: Transaction,
  by: ChangeContext,
  assets: readonly AssetInsert[],
): Promise<ReadonlyMap<string, number>> {
  await insertAssetRows(
    tx,
    assets.map(({ uid, organizationId, values, importId = null, seenAt = null }): InsertRow => [
      uid,
      organizationId,
      values.type,
      values.location,
      values.name,
      foldCase(values.location),
      foldCase(values.name),
      values.type === 'host' ? addressKey(values.location) : null,
      values.description,
      values.criticality,
      values.writable_by,
      by.now,
      by.now,
      importId,
      seenAt,
      seenAt,
    ]),
  );
  const rows = await selectIdsByUid(tx, { uids: assets.map(({ uid }) => uid) });
  const ids = new Map(rows.map(({ id, uid }) => [uid, id]));
  await recordEvents(
    tx,
    assets.flatMap(({ uid, organizationId, values }) =>
      ids.has(uid)
        ? [
            {
              by,
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

const insertAssetRows = prepareInsert(
  'assets',
  {
    uid: 'text',
    organization_id: 'int',
    type: 'text',
    location: 'text',
    name: 'text',
    search_location: 'text',
    search_name: 'text',
    address_hex: 'text',
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

const selectIdsByUid = prepareQuery<{ uids: readonly string[] }, { id: number; uid: string }>((db, p) =>
  db
    .selectFrom('assets')
    .select(['id', 'uid'])
    .where((eb) => inList(db, eb.ref('uid'), p.uids)),
);
