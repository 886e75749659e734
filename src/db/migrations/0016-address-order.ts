import type { Migration } from './migration.ts';

/** Sorts assets by location with addresses as numbers, before all names and URLs: `locationOrder` has the expression. */
export const addressOrder: Migration = {
  name: '0016-address-order',
  statements: () => [
    'drop index assets_by_location',
    'drop index assets_of_organization_by_location',
    "create index assets_by_location on assets ((coalesce(' ' || address_hex, location)), id)",
    `create index assets_of_organization_by_location
      on assets (organization_id, (coalesce(' ' || address_hex, location)), id)`,
  ],
};
