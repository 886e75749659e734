import type { Migration } from './migration.ts';

/**
 * When an import or undo of an organization was last started, so that the one that was served longest ago goes first.
 * The start of its imports does not include undos.
 */
export const lastImportStarts: Migration = {
  name: '0004-last-import-starts',
  statements: ({ int, tableOptions }) => [
    `create table last_import_starts (
      organization_id ${int} not null primary key references organizations (id) on delete cascade,
      started_at ${int} not null
    ) ${tableOptions}`,
    `drop index imports_by_start`,
  ],
};
