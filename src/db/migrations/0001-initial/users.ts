import type { SchemaDialect } from '../migration.ts';

export const usersTables = ({ id, int, text, tableOptions, clusteredOptions }: SchemaDialect): string[] => [
  `create table users (
    id ${id},
    uid ${text} not null unique,
    email ${text} not null,
    normalized_email ${text} not null unique,
    name ${text},
    search_name ${text},
    organization_id ${int} references organizations (id),
    admin ${int} not null default 0 check (admin in (0, 1)),
    staff ${int} not null default 0 check (staff in (0, 1)),
    password_hash ${text},
    accepted_at ${int},
    banned_at ${int},
    reactivated_at ${int},
    created_at ${int} not null,
    invited_at ${int},
    last_seen_at ${int},
    version ${int} not null default 1,
    check ((organization_id is null) = (staff = 1))
  ) ${tableOptions}`,
  `create unique index users_by_organization on users (organization_id, id)`,
  // Referenced by the members of assessment groups.
  `create unique index users_by_organization_and_uid on users (organization_id, id, uid)`,
  `create index users_by_address on users (organization_id, normalized_email)`,
  `create index users_who_administer on users (organization_id, id) where admin = 1`,

  // Staff without a row see every organization, so deleting an organization must not delete the last row.
  `create table staff_organizations (
    user_id ${int} not null references users (id) on delete cascade,
    organization_id ${int} not null references organizations (id) on delete restrict,
    primary key (user_id, organization_id)
  ) ${clusteredOptions}`,

  // A ban deletes users who were invited and never signed in; their addresses remain here.
  `create table banned_addresses (
    organization_id ${int} not null references organizations (id) on delete cascade,
    normalized_email ${text} not null,
    banned_at ${int} not null,
    primary key (organization_id, normalized_email)
  ) ${clusteredOptions}`,
];
