import { ASSET_TYPES, type CRITICALITIES } from './asset-enums.ts';
import { assetReadVisibility, locationOrder } from './read-asset.ts';
import { integerFilter, type ListContext, searchFilter, textFilter } from '../lists/filters.ts';
import { notFound } from '../shared/errors.ts';
import { defineList } from '../lists/define-list.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import { assessmentIsVisible, visibilityParameters } from '../shared/visibility.ts';

export interface ListingAsset {
  uid: string;
  location: string;
  type: (typeof ASSET_TYPES)[number];
  criticality: (typeof CRITICALITIES)[number];
  scopeRules: string[];
  /** When the asset was created, in milliseconds since 1970. */
  createdAt: number;
}

/** The visible assets of a listing (operation 79). `listing` is its id. */
export const listingAssetList = defineList({
  name: 'listing-assets',
  rows: ({ db, caller }) =>
    db
      .selectFrom('listing_assets')
      .innerJoin('assets', 'assets.id', 'listing_assets.asset_id')
      .select([
        'assets.uid',
        'assets.location',
        'assets.type',
        'assets.criticality',
        'assets.created_at',
        'listing_assets.scope_rules',
      ])
      .where(assetIsVisible(assetReadVisibility(caller), visibilityParameters(caller))),
  id: 'assets.id',
  organization: 'assets.organization_id',
  filters: {
    listing: integerFilter('listing_assets.assessment_id'),
    assetType: textFilter('assets.type', { oneOf: ASSET_TYPES }),
    search: searchFilter('assets.search_name', 'assets.search_location'),
  },
  sorts: { location: locationOrder },
  hydrate: (_listContext, rows) =>
    rows.map((row): ListingAsset => ({
      uid: row.uid,
      location: row.location,
      // A check constraint of the table.
      type: row.type as ListingAsset['type'],
      criticality: row.criticality as ListingAsset['criticality'],
      scopeRules: JSON.parse(row.scope_rules) as string[],
      createdAt: row.created_at,
    })),
});

const LISTING_UID = /^[-_0-9a-z]{1,50}$/;

/**
 * @returns the id of a visible listing
 * @throws DomainError `not-found`
 */
export async function requireListing({ db, caller }: ListContext, uid: string): Promise<number> {
  const row = LISTING_UID.test(uid)
    ? await db
        .selectFrom('assessments')
        .select('id')
        .where('uid', '=', uid)
        .where(assessmentIsVisible(assetReadVisibility(caller), visibilityParameters(caller)))
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound('listing');
  return row.id;
}
