import type { SchemaDialect } from '../migration.ts';

/** Attachments, comments and retests of vulnerabilities. */
export const evidenceTables = ({ id, int, text, tableOptions }: SchemaDialect): string[] => [
  `create table attachments (
    id ${id},
    organization_id ${int} not null,
    vulnerability_id ${int} not null,
    file_id ${int} not null,
    user_id ${int} references users (id) on delete set null,
    filename ${text} not null,
    content_type ${text} not null,
    file_size ${int} not null,
    created_at ${int} not null,
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade,
    foreign key (organization_id, file_id) references files (organization_id, id)
  ) ${tableOptions}`,
  `create index attachments_by_vulnerability on attachments (vulnerability_id, id)`,
  `create index attachments_by_file on attachments (file_id)`,
  `create index attachments_by_user on attachments (user_id) where user_id is not null`,

  `create table comments (
    id ${id},
    organization_id ${int} not null,
    vulnerability_id ${int} not null,
    user_id ${int} references users (id) on delete set null,
    text ${text} not null,
    internal ${int} not null check (internal in (0, 1)),
    created_at ${int} not null,
    updated_at ${int} not null,
    version ${int} not null default 1,
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade
  ) ${tableOptions}`,
  `create index comments_by_vulnerability on comments (vulnerability_id, created_at, id, internal)`,
  `create index comments_by_user on comments (user_id) where user_id is not null`,

  `create table retests (
    id ${id},
    organization_id ${int} not null,
    vulnerability_id ${int} not null,
    user_id ${int} references users (id) on delete set null,
    message ${text} not null,
    status ${text} not null check (status in ('requested', 'verified', 'failed', 'blocked', 'cancelled')),
    created_at ${int} not null,
    decided_at ${int} check ((decided_at is null) = (status = 'requested')),
    decided_by ${int} references users (id) on delete set null,
    decision_message ${text},
    version ${int} not null default 1,
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade
  ) ${tableOptions}`,
  `create index retests_by_vulnerability on retests (vulnerability_id, created_at, id)`,
  `create unique index retests_requested on retests (vulnerability_id) where status = 'requested'`,
  `create index retests_by_user on retests (user_id) where user_id is not null`,
  `create index retests_by_decider on retests (decided_by) where decided_by is not null`,
];
