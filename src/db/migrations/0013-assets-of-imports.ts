import type { Migration } from './migration.ts';

/**
 * Stores which import added an asset to a listing, so that its undo removes the entry, and which assets the imports of an
 * assessment saw. Earlier versions listed every asset that an import created.
 */
export const assetsOfImports: Migration = {
  name: '0013-assets-of-imports',
  statements: ({ int, clusteredOptions }) => [
    `alter table listing_assets add column import_id ${int}`,
    `update listing_assets set import_id = (select imports.id from assets
        join imports on imports.id = assets.import_id
      where assets.id = listing_assets.asset_id and imports.assessment_id = listing_assets.assessment_id
        and imports.undone is null)
      where scope_rules = '[]'`,
    `create index listing_assets_by_import on listing_assets (import_id, asset_id) where import_id is not null`,

    // Follows from `asset_detections`, which has a row for each of a thousand imports that see the same.
    `create table detected_assets (
      organization_id ${int} not null,
      assessment_id ${int} not null,
      asset_id ${int} not null,
      primary key (asset_id, assessment_id),
      foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade,
      foreign key (organization_id, asset_id) references assets (organization_id, id) on delete cascade
    ) ${clusteredOptions}`,
    `create index detected_assets_by_assessment on detected_assets (assessment_id, asset_id)`,
    `insert into detected_assets
      select distinct seen.organization_id, imports.assessment_id, seen.asset_id
      from asset_detections as seen join imports on imports.id = seen.import_id
      where imports.assessment_id is not null and imports.undone is null`,
  ],
};
