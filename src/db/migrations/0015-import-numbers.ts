import type { Migration } from './migration.ts';

/**
 * Numbers imports and dry runs apart, so that previews leave no gaps between the imports of an organization. Existing
 * imports keep their numbers.
 */
export const importNumbers: Migration = {
  name: '0015-import-numbers',
  statements: ({ engine, int, tableOptions }) => [
    `create table import_numbers (
      dry_run ${int} not null primary key check (dry_run in (0, 1)),
      last_id ${int} not null
    ) ${tableOptions}`,
    // Numbers of deleted imports are not used again.
    `insert into import_numbers (dry_run, last_id) values (1, 1000000000), (0, coalesce(${
      engine === 'sqlite'
        ? "(select seq from sqlite_sequence where name = 'imports')"
        : "pg_sequence_last_value(pg_get_serial_sequence('imports', 'id')::regclass)"
    }, 0))`,
  ],
};
