import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../db/engine.ts';
import { isOneOf } from '../../db/dialect-sql.ts';
import {
  ASSET_COLUMNS,
  completeAssets,
  MAX_LISTED,
  openVulnerabilityCount,
  reachesAllVulnerabilities,
  readersReach,
} from './read-asset.ts';
import { keyRange } from './asset-locations.ts';
import { ASSET_TYPES, CRITICALITIES } from './asset-enums.ts';
import { type Filter, type Reading, searchIn, since, textsIn } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { assetsWithin, listingWithin, reachParameters } from '../shared/visibility.ts';

const LISTING_UID = '^[-_0-9a-z]{1,50}$';

const ofListings: Filter<'texts'> = {
  kind: 'texts',
  pattern: LISTING_UID,
  where: ({ db, caller }, uids) => sql<SqlBool>`assets.id in (
    select listing_assets.asset_id from assessments
    join listing_assets on listing_assets.assessment_id = assessments.id
    where ${isOneOf(db, sql.ref<string>('assessments.uid'), uids)}
      and ${listingWithin(readersReach(caller), reachParameters(caller))})`,
};

const withTags: Filter<'texts'> = {
  kind: 'texts',
  where: ({ db }, uids) => sql<SqlBool>`assets.id in (
    select asset_taggings.asset_id from asset_tags
    join asset_taggings on asset_taggings.tag_id = asset_tags.id
    where ${isOneOf(db, sql.ref<string>('asset_tags.uid'), uids)})`,
};

const withOpenPorts: Filter<'integers'> = {
  kind: 'integers',
  where: ({ db }, numbers) => sql<SqlBool>`(assets.type = 'host' and exists (
    select 1 from ports where ports.asset_id = assets.id and ports.observed_state = 'open'
      and ${isOneOf(db, sql.ref<number>('ports.number'), numbers)}))`,
};

const atAddresses: Filter<'texts'> = {
  kind: 'texts',
  form: {
    isOne: (block) => keyRange(block) !== undefined,
    message: 'must be an IPv4 or IPv6 address, or a block of them such as 192.0.2.0/24',
    example: '192.0.2.0/24',
  },
  where: (_reading, blocks) => anyRange(blocks.flatMap((block) => [keyRange(block) ?? []]).filter(isRange)),
};

const isRange = (range: readonly string[]): range is readonly [string, string] => range.length === 2;

function anyRange(ranges: readonly (readonly [first: string, last: string])[]): RawBuilder<SqlBool> {
  if (ranges.length === 0) return sql<SqlBool>`1 = 0`;
  const each = ranges.map(([first, last]) => sql`assets.address_key between ${first} and ${last}`);
  return sql<SqlBool>`(assets.address_key is not null and (${sql.join(each, sql` or `)}))`;
}

/** The assets that a reader reaches (operation 75). */
export const assetList = defineList({
  name: 'assets',
  rows: ({ db, caller }) => reachedAssets(db, { caller }).select(ASSET_COLUMNS),
  id: 'assets.id',
  organization: 'assets.organization_id',
  filters: {
    listingUid: ofListings,
    assetType: textsIn('assets.type', { oneOf: ASSET_TYPES }),
    search: searchIn('assets.name_key', 'assets.location_key'),
    criticality: textsIn('assets.criticality', { oneOf: CRITICALITIES }),
    tagUid: withTags,
    portNumber: withOpenPorts,
    ipRange: atAddresses,
    createdSince: since('assets.created_at'),
  },
  orders: {
    location: { by: 'assets.location', type: 'text' },
    createdAt: { by: 'assets.created_at', type: 'integer' },
    updatedAt: { by: 'assets.updated_at', type: 'integer' },
    lastSeen: { by: 'assets.last_seen', type: 'integer', nullable: true },
    criticality: { by: 'assets.criticality_rank', type: 'integer' },
    vulnerabilityCount: {
      by: 'assets.open_vulnerabilities',
      type: 'integer',
      insteadFor: ({ caller }) =>
        reachesAllVulnerabilities(caller) ? undefined : openVulnerabilityCount(caller),
    },
  },
  items: (reading, rows) => completeAssets(reading, rows, MAX_LISTED),
});

function reachedAssets(db: Reader, { caller }: Pick<Reading, 'caller'>) {
  return db.selectFrom('assets').where(assetsWithin(readersReach(caller), reachParameters(caller)));
}
