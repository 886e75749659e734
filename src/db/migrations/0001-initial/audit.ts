import type { SchemaDialect } from '../migration.ts';

/** The audit log. */
export const auditTables = ({ id, int, text, table, clustered }: SchemaDialect): string[] => [
  // No foreign keys: events outlive the objects that they refer to.
  `create table audit_events (
    id ${id},
    at ${int} not null,
    action ${text} not null,
    object_type ${text} not null,
    object_id ${text},
    organization_id ${int},
    actor_kind ${text} not null
      check (actor_kind in ('user', 'client', 'command_line', 'system', 'stranger')),
    user_id ${int},
    credential_id ${text},
    address ${text},
    request_id ${text},
    before ${text},
    after ${text},
    count ${int} not null default 1,
    denied_key ${text}
  ) ${table}`,
  // Events are read by time, then id. The last three indexes serve filters by one value, within one organization or in
  // all.
  `create index audit_events_by_time on audit_events (at, id)`,
  `create index audit_events_by_organization on audit_events (organization_id, at, id)`,
  `create index audit_events_by_object on audit_events (object_id, organization_id, at, id) where object_id is not null`,
  `create index audit_events_by_user on audit_events (user_id, organization_id, at, id) where user_id is not null`,
  `create index audit_events_by_request on audit_events (request_id, organization_id) where request_id is not null`,
  // Changes have no key.
  `create unique index audit_events_by_denied_key on audit_events (denied_key) where denied_key is not null`,

  // The number of rows for the denied attempts of a minute. Transactions that insert such rows lock the minute's row.
  `create table denied_attempt_minutes (
    minute ${int} primary key,
    events ${int} not null
  ) ${clustered}`,
];
