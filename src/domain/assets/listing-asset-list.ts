import { ASSET_TYPES, type CRITICALITIES } from './asset-enums.ts';
import { readersReach } from './read-asset.ts';
import { integersIn, type Reading, searchIn, textsIn } from '../lists/filters.ts';
import { missing } from '../shared/errors.ts';
import { defineList } from '../lists/define-list.ts';
import { assetWithin, listingWithin, reachParameters } from '../shared/visibility.ts';

/** An asset of a listing. */
export interface ListedAsset {
  uid: string;
  location: string;
  type: (typeof ASSET_TYPES)[number];
  criticality: (typeof CRITICALITIES)[number];
  scopeRules: string[];
  /** Of the asset, in milliseconds since 1970. */
  createdAt: number;
}

/** The assets of a listing that a reader reaches (operation 79). `listing` is the id of one. */
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
      .where(assetWithin(readersReach(caller), reachParameters(caller))),
  id: 'assets.id',
  organization: 'assets.organization_id',
  filters: {
    listing: integersIn('listing_assets.assessment_id'),
    assetType: textsIn('assets.type', { oneOf: ASSET_TYPES }),
    search: searchIn('assets.name_key', 'assets.location_key'),
  },
  orders: { location: { by: 'assets.location', type: 'text' } },
  items: (_reading, rows) =>
    rows.map((row): ListedAsset => ({
      uid: row.uid,
      location: row.location,
      // The table holds no others.
      type: row.type as ListedAsset['type'],
      criticality: row.criticality as ListedAsset['criticality'],
      scopeRules: JSON.parse(row.scope_rules) as string[],
      createdAt: row.created_at,
    })),
});

const LISTING_UID = /^[-_0-9a-z]{1,50}$/;

/**
 * @returns the id of a listing that a reader reaches
 * @throws Failure `missing`
 */
export async function findListing({ db, caller }: Reading, uid: string): Promise<number> {
  const row = LISTING_UID.test(uid)
    ? await db
        .selectFrom('assessments')
        .select('id')
        .where('uid', '=', uid)
        .where(listingWithin(readersReach(caller), reachParameters(caller)))
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw missing('listing');
  return row.id;
}
