import type { SchemaDialect } from '../migration.ts';

/** The values that bulk changes replaced. Deleted with the account that made the change. */
export const bulkChangesTables = ({ id, int, text, table }: SchemaDialect): string[] => [
  `create table bulk_changes (
    id ${id},
    request_id ${text} not null,
    user_id ${int} references users (id) on delete cascade,
    changed_at ${int} not null,
    replaced ${text} not null
  ) ${table}`,
  `create index bulk_changes_by_request on bulk_changes (request_id)`,
  `create index bulk_changes_by_user on bulk_changes (user_id) where user_id is not null`,
  `create index bulk_changes_by_time on bulk_changes (changed_at)`,
];
