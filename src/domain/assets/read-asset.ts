import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import { ASSET_READ_SCOPES } from '../../auth/scopes.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Row } from '../../db/schema.ts';
import type { ASSET_TYPES, CRITICALITIES, WRITABLE_BY } from './asset-enums.ts';
import { groupBy } from '../shared/group-by.ts';
import type { ListContext } from '../lists/filters.ts';
import { notFound } from '../shared/errors.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import {
  type Visibility,
  assessmentIsVisible,
  visibilityOf,
  visibilityByScopes,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';

export interface AssetListing {
  uid: string;
  scopeRules: string[];
}

/** Times are milliseconds since 1970. */
export interface Asset {
  id: number;
  uid: string;
  organizationUid: string;
  type: (typeof ASSET_TYPES)[number];
  name: string;
  location: string;
  description: string;
  criticality: (typeof CRITICALITIES)[number];
  writableBy: (typeof WRITABLE_BY)[number];
  /** Visible to the reader. */
  listings: AssetListing[];
  tags: { uid: string; name: string }[];
  openPorts: number;
  /** Visible to the reader. */
  openVulnerabilities: number;
  /** `null` unless a scan saw it. */
  firstSeen: number | null;
  lastSeen: number | null;
  createdAt: number;
  updatedAt: number;
  version: number;
}

/** Listings, and tags, of each asset in a list. */
export const MAX_RELATED = 100;

/** The order by location. Addresses come first, as numbers; a space is less than every character of other locations. */
export const locationOrder = {
  column: 'assets.location',
  columnFor: () => sql`coalesce(' ' || assets.address_hex, assets.location)`,
  type: 'text',
} as const;

/** The columns that `hydrateAssets` needs. */
export const ASSET_COLUMNS = [
  'assets.id',
  'assets.uid',
  'assets.organization_id',
  'assets.type',
  'assets.name',
  'assets.location',
  'assets.description',
  'assets.criticality',
  'assets.writable_by',
  'assets.open_vulnerabilities',
  'assets.first_seen',
  'assets.last_seen',
  'assets.created_at',
  'assets.updated_at',
  'assets.version',
] as const;

export type AssetRow = Omit<
  Row<'assets'>,
  'search_location' | 'search_name' | 'address_hex' | 'criticality_rank' | 'import_id'
>;

export const assetReadVisibility = (caller: Caller): Visibility =>
  visibilityByScopes(caller, ASSET_READ_SCOPES, 'read');

/**
 * Reads one asset (operation 76).
 * @throws DomainError `not-found`
 */
export async function readAsset(listContext: ListContext, uid: string): Promise<Asset> {
  const { db, caller } = listContext;
  const row = ASSET_UID.test(uid)
    ? await db
        .selectFrom('assets')
        .select(ASSET_COLUMNS)
        .where('assets.uid', '=', uid)
        .where(assetIsVisible(assetReadVisibility(caller), visibilityParameters(caller)))
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound('asset');
  const [asset] = await hydrateAssets(listContext, [row]);
  return asset as Asset;
}

export const ASSET_UID = /^[0-9a-f]{24}$/;

/**
 * Loads the related rows of assets, with one query for each table.
 * @param max listings, and tags, of each; absent: all
 */
export async function hydrateAssets(
  { db, caller }: Pick<ListContext, 'db' | 'caller'>,
  rows: readonly AssetRow[],
  max = Number.MAX_SAFE_INTEGER,
): Promise<Asset[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const visibility = assetReadVisibility(caller);
  const p = visibilityParameters(caller);
  const [organizations, listings, tags, ports, vulnerabilities] = await Promise.all([
    organizationUids(db, [...new Set(rows.map((row) => row.organization_id))]),
    listingsOf(db, ids, max, visibility, p),
    tagsOf(db, ids, max),
    openPortsOf(db, ids),
    seesAllVulnerabilities(caller) ? undefined : openVulnerabilitiesOf(db, caller, ids),
  ]);
  return rows.map((row): Asset => ({
    id: row.id,
    uid: row.uid,
    organizationUid: organizations.get(row.organization_id) ?? '',
    type: row.type,
    name: row.name,
    location: row.location,
    description: row.description,
    criticality: row.criticality,
    writableBy: row.writable_by,
    listings: listings.get(row.id) ?? [],
    tags: tags.get(row.id) ?? [],
    openPorts: row.type === 'host' ? (ports.get(row.id) ?? 0) : 0,
    openVulnerabilities:
      vulnerabilities === undefined ? row.open_vulnerabilities : (vulnerabilities.get(row.id) ?? 0),
    firstSeen: row.first_seen,
    lastSeen: row.last_seen,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  }));
}

async function organizationUids(
  db: ReadConnection,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('organizations')
    .select(['id', 'uid'])
    .where((eb) => inList(db, eb.ref('id'), ids))
    .execute();
  return new Map(rows.map(({ id, uid }) => [id, uid]));
}

async function listingsOf(
  db: ReadConnection,
  ids: readonly number[],
  max: number,
  visibility: Visibility,
  p: VisibilityParameters,
): Promise<ReadonlyMap<number, AssetListing[]>> {
  const query = sql<ListingRow>`select listing_assets.asset_id, assessments.uid, listing_assets.scope_rules,
      row_number() over (partition by listing_assets.asset_id order by assessments.uid) as position
    from listing_assets join assessments on assessments.id = listing_assets.assessment_id
    where ${inList(db, sql.ref<number>('listing_assets.asset_id'), ids)} and ${assessmentIsVisible(visibility, p)}`;
  const rows = await readFirstPerAsset(db, query, max);
  return groupBy(rows, assetIdOf, ({ uid, scope_rules }) => ({
    uid,
    scopeRules: JSON.parse(scope_rules) as string[],
  }));
}

const assetIdOf = (row: WithAssetId): number => row.asset_id;

interface WithAssetId {
  asset_id: number;
}

interface ListingRow extends WithAssetId {
  uid: string;
  scope_rules: string;
}

interface TagRow extends WithAssetId {
  uid: string;
  name: string;
}

async function tagsOf(
  db: ReadConnection,
  ids: readonly number[],
  max: number,
): Promise<ReadonlyMap<number, { uid: string; name: string }[]>> {
  const query = sql<TagRow>`select asset_taggings.asset_id, asset_tags.uid, asset_tags.name,
      row_number() over (partition by asset_taggings.asset_id order by asset_tags.name, asset_tags.id) as position
    from asset_taggings join asset_tags on asset_tags.id = asset_taggings.tag_id
    where ${inList(db, sql.ref<number>('asset_taggings.asset_id'), ids)}`;
  return groupBy(await readFirstPerAsset(db, query, max), assetIdOf, ({ uid, name }) => ({ uid, name }));
}

async function readFirstPerAsset<R>(
  db: ReadConnection,
  query: RawBuilder<R>,
  max = Number.MAX_SAFE_INTEGER,
): Promise<R[]> {
  const { rows } = await sql<R>`select * from (${query}) as positions
    where position <= ${max} order by asset_id, position`.execute(db);
  return rows;
}

async function openPortsOf(db: ReadConnection, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('port_counts')
    .select(['asset_id', 'ports'])
    .where((eb) => inList(db, eb.ref('asset_id'), ids))
    .where('observed_state', '=', 'open')
    .execute();
  return new Map(rows.map(({ asset_id, ports }) => [asset_id, ports]));
}

/** Whether the reader can see every vulnerability of their visible assets. */
export function seesAllVulnerabilities(caller: Caller): boolean {
  return caller.staff || caller.admin;
}

/** The open vulnerabilities of assets that are visible to a reader with restricted access. */
function openVulnerabilities(caller: Caller): RawBuilder<unknown> {
  return sql`from vulnerability_assets
    join vulnerabilities on vulnerabilities.id = vulnerability_assets.vulnerability_id
    join assessments on assessments.id = vulnerabilities.assessment_id
    where vulnerabilities.closed_at is null and vulnerabilities.draft = 0
      and ${assessmentIsVisible(visibilityOf(caller), visibilityParameters(caller))}`;
}

/** @returns the number of visible open vulnerabilities of the current row of `assets`, as a subquery */
export function openVulnerabilityCount(caller: Caller): RawBuilder<number> {
  return sql<number>`(select count(*) ${openVulnerabilities(caller)} and vulnerability_assets.asset_id = assets.id)`;
}

async function openVulnerabilitiesOf(
  db: ReadConnection,
  caller: Caller,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql<{ asset_id: number; count: number }>`
    select vulnerability_assets.asset_id, count(*) as count ${openVulnerabilities(caller)}
      and ${inList(db, sql.ref<number>('vulnerability_assets.asset_id'), ids)}
    group by vulnerability_assets.asset_id`.execute(db);
  return new Map(rows.map(({ asset_id, count }) => [asset_id, count]));
}
