import type { SchemaDialect } from '../migration.ts';

/**
 * Assessments, their groups, tags and testing hours. Tables that relate two objects have the organization in both
 * foreign keys, so that rows of different organizations cannot be related.
 */
export const assessmentsTables = ({
  id,
  int,
  text,
  tableOptions,
  clusteredOptions,
}: SchemaDialect): string[] => [
  `create table assessment_groups (
    id ${id},
    organization_id ${int} not null references organizations (id),
    name ${text} not null,
    search_name ${text} not null default '',
    description ${text} not null default '',
    created_at ${int} not null,
    version ${int} not null default 1,
    unique (organization_id, id)
  ) ${tableOptions}`,
  `create index assessment_groups_by_name on assessment_groups (organization_id, name, id)`,

  // `user_uid` is copied from the user, and a foreign key keeps it equal: an index of this table alone then serves
  // pages sorted by uid.
  `create table assessment_group_members (
    id ${id},
    organization_id ${int} not null,
    group_id ${int} not null,
    user_id ${int} not null,
    user_uid ${text} not null,
    role ${text} not null check (role in ('rbac_group_admin', 'assessment_member', 'assessment_creator',
      'assessment_read_only', 'assessment_operator', 'infra_admin')),
    created_at ${int} not null,
    unique (group_id, user_uid),
    foreign key (organization_id, group_id) references assessment_groups (organization_id, id) on delete cascade,
    foreign key (organization_id, user_id, user_uid) references users (organization_id, id, uid) on delete cascade
  ) ${tableOptions}`,
  // One index per order of a page: ties are sorted by ascending id in both directions.
  `create index assessment_group_members_by_time on assessment_group_members (group_id, created_at, id)`,
  `create index assessment_group_members_by_time_descending on assessment_group_members (group_id, created_at desc, id)`,
  `create index assessment_group_members_by_role on assessment_group_members (group_id, role, id)`,
  `create index assessment_group_members_by_role_and_time on assessment_group_members (group_id, role, created_at, id)`,
  `create index assessment_group_members_by_role_and_time_descending on assessment_group_members (group_id, role, created_at desc, id)`,
  `create index assessment_group_members_by_role_and_user on assessment_group_members (group_id, role, user_uid)`,
  `create index assessment_group_members_by_user on assessment_group_members (user_id, group_id)`,

  `create table assessment_group_member_counts (
    group_id ${int} not null references assessment_groups (id) on delete cascade,
    role ${text} not null,
    members ${int} not null check (members >= 0),
    primary key (group_id, role)
  ) ${clusteredOptions}`,

  `create table assessments (
    id ${id},
    uid ${text} not null unique,
    organization_id ${int} not null references organizations (id),
    group_id ${int},
    name ${text} not null,
    search_name ${text} not null default '',
    description ${text} not null default '',
    type ${text} not null default 'web' check (type in ('web', 'host', 'api', 'mobile')),
    state ${text} not null default 'active' check (state in ('pending', 'active', 'paused', 'completed')),
    starts_on ${text},
    ends_on ${text} check (ends_on >= starts_on),
    created_at ${int} not null,
    updated_at ${int} not null default 0,
    version ${int} not null default 1,
    foreign key (organization_id, group_id) references assessment_groups (organization_id, id)
  ) ${tableOptions}`,
  `create unique index assessments_by_organization on assessments (organization_id, id)`,
  `create index assessments_by_time on assessments (organization_id, created_at, id)`,
  `create index assessments_by_group on assessments (group_id, id) where group_id is not null`,

  `create table assessment_access (
    organization_id ${int} not null,
    assessment_id ${int} not null,
    user_id ${int} not null,
    primary key (user_id, assessment_id),
    foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade,
    foreign key (organization_id, user_id) references users (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index assessment_access_by_assessment on assessment_access (assessment_id, user_id)`,

  `create table assessment_tags (
    id ${id},
    organization_id ${int} not null references organizations (id),
    name ${text} not null,
    normalized_name ${text} not null,
    version ${int} not null default 1,
    unique (organization_id, normalized_name),
    unique (organization_id, id)
  ) ${tableOptions}`,

  `create table assessment_taggings (
    organization_id ${int} not null,
    assessment_id ${int} not null,
    tag_id ${int} not null,
    primary key (assessment_id, tag_id),
    foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade,
    foreign key (organization_id, tag_id) references assessment_tags (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index assessment_taggings_by_tag on assessment_taggings (tag_id, assessment_id)`,

  // At most one running session per tester and assessment. An assessment with sessions cannot be deleted.
  `create table testing_sessions (
    id ${id},
    organization_id ${int} not null,
    assessment_id ${int} not null,
    tester_id ${int} not null references users (id) on delete cascade,
    started_at ${int} not null,
    ended_at ${int} check (ended_at >= started_at),
    created_at ${int} not null,
    note ${text} not null default '',
    version ${int} not null default 1,
    foreign key (organization_id, assessment_id) references assessments (organization_id, id)
  ) ${tableOptions}`,
  `create unique index testing_sessions_running on testing_sessions (tester_id, assessment_id) where ended_at is null`,
  `create index testing_sessions_by_start on testing_sessions (started_at) where ended_at is null`,
  `create index testing_sessions_by_time on testing_sessions (started_at desc, id)`,
  `create index testing_sessions_of_organization on testing_sessions (organization_id, started_at desc, id)`,
  `create index testing_sessions_of_assessment on testing_sessions (assessment_id, started_at desc, id)`,
  `create index testing_sessions_of_tester on testing_sessions (tester_id, started_at desc, id)`,
];
