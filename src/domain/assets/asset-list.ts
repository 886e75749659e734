import { type SqlBool, sql } from 'kysely';
import { anyOf, inList } from '../../db/dialect-sql.ts';
import {
  ASSET_COLUMNS,
  hydrateAssets,
  locationOrder,
  MAX_RELATED,
  openVulnerabilityCount,
  seesAllVulnerabilities,
  assetReadVisibility,
} from './read-asset.ts';
import { addressKeyRanges } from './asset-locations.ts';
import { ASSET_TYPES, CRITICALITIES } from './asset-enums.ts';
import { type Filter, type ListContext, searchFilter, sinceFilter, textFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { assetIsVisibleByIndex } from '../shared/asset-visibility.ts';
import {
  assessmentIsVisible,
  isDraftVisible,
  loadAssessmentIds,
  visibilityOf,
  visibilityParameters,
} from '../shared/visibility.ts';

const LISTING_UID = '^[-_0-9a-z]{1,50}$';

const inListings: Filter<'texts'> = {
  kind: 'texts',
  pattern: LISTING_UID,
  where: ({ db, caller }, uids) => sql<SqlBool>`assets.id in (
    select listing_assets.asset_id from assessments
    join listing_assets on listing_assets.assessment_id = assessments.id
    where ${inList(db, sql.ref<string>('assessments.uid'), uids)}
      and ${assessmentIsVisible(assetReadVisibility(caller), visibilityParameters(caller))})`,
};

/** Assets that imports or vulnerabilities of assessments have, and their listings lack. */
const outsideListings: Filter<'texts'> = {
  kind: 'texts',
  pattern: LISTING_UID,
  where({ db, caller }, uids) {
    const p = visibilityParameters(caller);
    const isOne = inList(db, sql.ref<string>('assessments.uid'), uids);
    const isUnlisted = (asset: string) => sql<SqlBool>`not exists (select 1 from listing_assets
      where listing_assets.asset_id = ${sql.ref(asset)} and listing_assets.assessment_id = assessments.id)`;
    return sql<SqlBool>`assets.id in (
      select seen.asset_id from assessments join detected_assets as seen on seen.assessment_id = assessments.id
      where ${isOne} and ${assessmentIsVisible(assetReadVisibility(caller), p)} and ${isUnlisted('seen.asset_id')}
      union all
      select link.asset_id from assessments
      join vulnerabilities on vulnerabilities.assessment_id = assessments.id
      join vulnerability_assets as link on link.vulnerability_id = vulnerabilities.id
      where ${isOne} and ${assessmentIsVisible(visibilityOf(caller), p)} and ${isDraftVisible(visibilityOf(caller))}
        and ${isUnlisted('link.asset_id')})`;
  },
};

const withTags: Filter<'texts'> = {
  kind: 'texts',
  where: ({ db }, uids) => sql<SqlBool>`assets.id in (
    select asset_taggings.asset_id from asset_tags
    join asset_taggings on asset_taggings.tag_id = asset_tags.id
    where ${inList(db, sql.ref<string>('asset_tags.uid'), uids)})`,
};

const withOpenPorts: Filter<'integers'> = {
  kind: 'integers',
  where: ({ db }, numbers) => sql<SqlBool>`(assets.type = 'host' and exists (
    select 1 from ports where ports.asset_id = assets.id and ports.observed_state = 'open'
      and ${inList(db, sql.ref<number>('ports.number'), numbers)}))`,
};

const inAddressBlocks: Filter<'texts'> = {
  kind: 'texts',
  custom: {
    accepts: (block) => addressKeyRanges(block) !== undefined,
    problem: { code: 'not-an-address-block' },
    example: '192.0.2.0/24',
  },
  where(_listContext, blocks) {
    const ranges = blocks.flatMap((block) => addressKeyRanges(block) ?? []);
    const conditions = ranges.map(
      ([first, last]) => sql<SqlBool>`assets.address_hex between ${first} and ${last}`,
    );
    return sql<SqlBool>`(assets.address_hex is not null and ${anyOf(conditions)})`;
  },
};

/** The assets that the reader can see (operation 75). */
export const assetList = defineList({
  name: 'assets',
  loadAssessmentIds: (db, caller) =>
    loadAssessmentIds(db, assetReadVisibility(caller), visibilityParameters(caller)),
  rows: (listContext) => visibleAssets(listContext).select(ASSET_COLUMNS),
  id: 'assets.id',
  organization: 'assets.organization_id',
  filters: {
    listingUid: inListings,
    outsideListingUid: outsideListings,
    assetType: textFilter('assets.type', { oneOf: ASSET_TYPES }),
    search: searchFilter('assets.search_name', 'assets.search_location'),
    criticality: textFilter('assets.criticality', { oneOf: CRITICALITIES }),
    tagUid: withTags,
    portNumber: withOpenPorts,
    ipRange: inAddressBlocks,
    createdSince: sinceFilter('assets.created_at'),
  },
  sorts: {
    location: locationOrder,
    createdAt: { column: 'assets.created_at', type: 'integer' },
    updatedAt: { column: 'assets.updated_at', type: 'integer' },
    lastSeen: { column: 'assets.last_seen', type: 'integer', nullable: true },
    criticality: { column: 'assets.criticality_rank', type: 'integer' },
    vulnerabilityCount: {
      column: 'assets.open_vulnerabilities',
      type: 'integer',
      columnFor: ({ caller }) =>
        seesAllVulnerabilities(caller) ? undefined : openVulnerabilityCount(caller),
    },
  },
  hydrate: (listContext, rows) => hydrateAssets(listContext, rows, MAX_RELATED),
});

function visibleAssets({ db, caller, assessmentIds = [], isCounting = false }: ListContext) {
  return db
    .selectFrom('assets')
    .where(
      assetIsVisibleByIndex(
        db,
        assetReadVisibility(caller),
        visibilityParameters(caller),
        assessmentIds,
        isCounting,
      ),
    );
}
