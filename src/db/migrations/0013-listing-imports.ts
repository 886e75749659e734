import type { Migration } from './migration.ts';

/**
 * Which import listed an asset, so that its undo takes it off the listing again. An earlier version listed what an import
 * created.
 */
export const listingImports: Migration = {
  name: '0013-listing-imports',
  statements: ({ int }) => [
    `alter table listing_assets add column import_id ${int}`,
    `update listing_assets set import_id = (select imports.id from assets
        join imports on imports.id = assets.import_id
      where assets.id = listing_assets.asset_id and imports.assessment_id = listing_assets.assessment_id
        and imports.undone is null)
      where scope_rules = '[]'`,
    `create index listing_assets_by_import on listing_assets (import_id, asset_id) where import_id is not null`,
  ],
};
