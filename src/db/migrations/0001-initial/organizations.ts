import type { SchemaDialect } from '../migration.ts';

/** Organizations, and groups of them. */
export const organizationsTables = ({ id, int, text, table, clustered }: SchemaDialect): string[] => [
  `create table organizations (
    id ${id},
    uid ${text} not null unique,
    kind ${text} not null check (kind in ('organization', 'group')),
    name ${text} not null,
    created_at ${int} not null,
    require_second_factor ${int} not null default 0 check (require_second_factor in (0, 1)),
    version ${int} not null default 1
  ) ${table}`,

  `create index organizations_by_name on organizations (name, id) where kind = 'organization'`,

  `create table organization_group_members (
    group_id ${int} not null references organizations (id) on delete cascade,
    organization_id ${int} not null references organizations (id) on delete cascade,
    primary key (group_id, organization_id)
  ) ${clustered}`,
  `create index organization_group_members_by_organization on organization_group_members (organization_id, group_id)`,
];
