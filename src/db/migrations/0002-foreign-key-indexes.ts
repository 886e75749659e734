import type { Migration } from './migration.ts';

/** Without them, deleting a blob, a user or an organization reads the whole table. */
export const foreignKeyIndexes: Migration = {
  name: '0002-foreign-key-indexes',
  statements: () => [
    `create index imports_by_blob on imports (blob_key) where blob_key is not null`,
    `create index imports_by_creator on imports (created_by) where created_by is not null`,
    `create index staff_organizations_by_organization on staff_organizations (organization_id)`,
  ],
};
