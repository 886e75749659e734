import type { SchemaDialect } from '../migration.ts';

/** Stored responses, replayed to repeated requests. Deleted with the account that sent the request. */
export const idempotencyKeysTables = ({ int, text, table }: SchemaDialect): string[] => [
  `create table idempotency_keys (
    id ${text} primary key,
    user_id ${int} not null references users (id) on delete cascade,
    request_hash ${text} not null,
    status ${int} not null,
    headers ${text} not null,
    version ${int},
    body ${text} not null,
    body_is_gzip ${int} not null check (body_is_gzip in (0, 1)),
    created_at ${int} not null
  ) ${table}`,
  `create index idempotency_keys_by_user on idempotency_keys (user_id)`,
  `create index idempotency_keys_by_time on idempotency_keys (created_at)`,
];
