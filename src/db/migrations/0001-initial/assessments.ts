import type { Dialect } from '../migration.ts';

/** Assessments, their groups, tags and testing hours. */
export const assessmentsTables = ({ id, int, text, table, clustered }: Dialect): string[] => [
  `create table assessment_groups (
    id ${id},
    organization_id ${int} not null references organizations (id),
    name ${text} not null,
    created_at ${int} not null
  ) ${table}`,

  `create table group_members (
    id ${id},
    group_id ${int} not null references assessment_groups (id) on delete cascade,
    user_uid ${text} not null references users (uid) on delete cascade,
    role ${text} not null check (role in ('rbac_group_admin', 'assessment_member', 'assessment_creator',
      'assessment_read_only', 'assessment_operator', 'infra_admin')),
    created_at ${int} not null,
    unique (group_id, user_uid)
  ) ${table}`,
  // One index per order that a page can have: ties are ascending by id whichever way the field runs.
  `create index group_members_by_time on group_members (group_id, created_at, id)`,
  `create index group_members_by_time_descending on group_members (group_id, created_at desc, id)`,
  `create index group_members_by_role on group_members (group_id, role, id)`,
  `create index group_members_by_role_and_time on group_members (group_id, role, created_at, id)`,
  `create index group_members_by_role_and_time_descending on group_members (group_id, role, created_at desc, id)`,
  `create index group_members_by_role_and_user on group_members (group_id, role, user_uid)`,
  `create index group_members_by_user on group_members (user_uid)`,

  `create table group_member_counts (
    group_id ${int} not null references assessment_groups (id) on delete cascade,
    role ${text} not null,
    members ${int} not null check (members >= 0),
    primary key (group_id, role)
  ) ${clustered}`,

  `create table assessments (
    id ${id},
    uid ${text} not null unique,
    organization_id ${int} not null references organizations (id),
    group_id ${int} references assessment_groups (id),
    name ${text} not null,
    created_at ${int} not null
  ) ${table}`,
  `create index assessments_by_organization on assessments (organization_id, id)`,

  `create table assessment_access (
    assessment_id ${int} not null references assessments (id) on delete cascade,
    user_id ${int} not null references users (id) on delete cascade,
    primary key (user_id, assessment_id)
  ) ${clustered}`,
  `create index assessment_access_by_assessment on assessment_access (assessment_id, user_id)`,

  `create table assessment_tags (
    id ${id},
    organization_id ${int} not null references organizations (id),
    name ${text} not null,
    name_key ${text} not null,
    unique (organization_id, name_key)
  ) ${table}`,

  `create table assessment_taggings (
    assessment_id ${int} not null references assessments (id) on delete cascade,
    tag_id ${int} not null references assessment_tags (id) on delete cascade,
    primary key (assessment_id, tag_id)
  ) ${clustered}`,

  `create table testing_sessions (
    id ${id},
    assessment_id ${int} not null references assessments (id) on delete cascade,
    tester_id ${int} not null references users (id) on delete cascade,
    started_at ${int} not null,
    ended_at ${int} check (ended_at >= started_at)
  ) ${table}`,
  `create index testing_sessions_by_assessment on testing_sessions (assessment_id, started_at, ended_at)`,
  `create index testing_sessions_by_tester on testing_sessions (tester_id)`,
];
