import type { Dialect } from '../migration.ts';

/** The audit log. */
export const eventsTables = ({ id, int, text, table }: Dialect): string[] => [
  // No foreign keys: the log outlives what it tells of.
  `create table audit_events (
    id ${id},
    at ${int} not null,
    action ${text} not null,
    object_type ${text} not null,
    object_id ${text} not null,
    organization_id ${int},
    user_id ${int},
    credential_id ${text},
    address ${text},
    request_id ${text} not null,
    before ${text},
    after ${text}
  ) ${table}`,
  `create index audit_events_by_organization on audit_events (organization_id, id)`,
];
