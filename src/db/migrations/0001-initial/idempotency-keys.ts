import type { SchemaDialect } from '../migration.ts';

/** What was answered to requests that may come again. It belongs to the account that asked, and goes with it. */
export const idempotencyKeysTables = ({ int, text, table }: SchemaDialect): string[] => [
  `create table kept_answers (
    id ${text} primary key,
    user_id ${int} not null references users (id) on delete cascade,
    request_hash ${text} not null,
    status ${int} not null,
    headers ${text} not null,
    version ${int},
    body ${text} not null,
    compressed ${int} not null check (compressed in (0, 1)),
    kept_at ${int} not null
  ) ${table}`,
  `create index kept_answers_by_user on kept_answers (user_id)`,
  `create index kept_answers_by_time on kept_answers (kept_at)`,
];
