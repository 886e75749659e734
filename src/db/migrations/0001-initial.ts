import type { Migration } from './migration.ts';

/** Organizations, people, tokens, assessments, vulnerabilities, assets, ports and the audit log. */
export const initial: Migration = {
  name: '0001-initial',
  statements: ({ id, int, text, real, table, clustered }) => [
    `create table organizations (
      id ${id},
      uid ${text} not null unique,
      kind ${text} not null check (kind in ('organization', 'group')),
      name ${text} not null,
      created_at ${int} not null
    ) ${table}`,

    `create table organization_group_members (
      group_id ${int} not null references organizations (id) on delete cascade,
      organization_id ${int} not null references organizations (id) on delete cascade,
      primary key (group_id, organization_id)
    ) ${clustered}`,
    `create index organization_group_members_by_organization on organization_group_members (organization_id, group_id)`,

    `create table users (
      id ${id},
      uid ${text} not null unique,
      email ${text} not null,
      email_key ${text} not null unique,
      name ${text},
      organization_id ${int} references organizations (id),
      admin ${int} not null default 0 check (admin in (0, 1)),
      staff ${int} not null default 0 check (staff in (0, 1)),
      password_hash ${text},
      accepted_at ${int},
      banned_at ${int},
      created_at ${int} not null,
      check ((organization_id is null) = (staff = 1))
    ) ${table}`,
    `create index users_by_organization on users (organization_id, id)`,
    `create index users_who_administer on users (organization_id, id) where admin = 1`,

    `create table staff_organizations (
      user_id ${int} not null references users (id) on delete cascade,
      organization_id ${int} not null references organizations (id) on delete cascade,
      primary key (user_id, organization_id)
    ) ${clustered}`,

    `create table tokens (
      id ${text} primary key,
      kind ${text} not null check (kind in ('personal', 'jwt')),
      user_id ${int} not null references users (id) on delete cascade,
      secret_hash ${text} unique,
      scopes ${text} not null,
      allowed_addresses ${text},
      created_at ${int} not null,
      expires_at ${int},
      revoked_at ${int},
      last_used_at ${int},
      last_used_from ${text},
      check ((secret_hash is null) = (kind = 'jwt'))
    ) ${table}`,
    `create index tokens_by_user on tokens (user_id, created_at)`,

    `create table credential_changes (id ${int} primary key check (id = 1), changes ${int} not null) ${table}`,
    `insert into credential_changes (id, changes) values (1, 0)`,

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

    `create table vulnerabilities (
      id ${id},
      organization_id ${int} not null references organizations (id),
      assessment_id ${int} not null references assessments (id),
      title ${text} not null,
      description ${text} not null,
      severity ${text} not null check (severity in ('Critical', 'High', 'Medium', 'Low', 'Informational')),
      status_id ${int} not null check (status_id between 1 and 9),
      cvss_score ${real} check (cvss_score between 0 and 10),
      created_at ${int} not null,
      updated_at ${int} not null
    ) ${table}`,
    `create index vulnerabilities_by_assessment on vulnerabilities (assessment_id, id)`,

    `create table vulnerability_tags (
      id ${id},
      organization_id ${int} not null references organizations (id),
      name ${text} not null,
      name_key ${text} not null,
      editable ${int} not null default 1 check (editable in (0, 1)),
      unique (organization_id, name_key)
    ) ${table}`,

    `create table vulnerability_taggings (
      vulnerability_id ${int} not null references vulnerabilities (id) on delete cascade,
      tag_id ${int} not null references vulnerability_tags (id) on delete cascade,
      primary key (vulnerability_id, tag_id)
    ) ${clustered}`,
    `create index vulnerability_taggings_by_tag on vulnerability_taggings (tag_id, vulnerability_id)`,

    `create table attachments (
      id ${id},
      vulnerability_id ${int} not null references vulnerabilities (id) on delete cascade,
      filename ${text} not null,
      content_type ${text} not null,
      file_size ${int} not null,
      created_at ${int} not null
    ) ${table}`,
    `create index attachments_by_vulnerability on attachments (vulnerability_id, id)`,

    `create table assets (
      id ${id},
      uid ${text} not null unique,
      organization_id ${int} not null references organizations (id),
      type ${text} not null check (type in ('host', 'webapp', 'network', 'cloudaccount', 'mobileapp')),
      name ${text} not null,
      address ${text},
      criticality ${text} not null default 'undefined' check (criticality in ('high', 'medium', 'low', 'undefined')),
      writable_by ${text} not null default 'any' check (writable_by in ('client', 'boss', 'any')),
      created_at ${int} not null,
      updated_at ${int} not null,
      unique (organization_id, address)
    ) ${table}`,

    `create table asset_tags (
      id ${id},
      uid ${text} not null unique,
      organization_id ${int} not null references organizations (id),
      name ${text} not null,
      name_key ${text} not null,
      unique (organization_id, name_key)
    ) ${table}`,

    `create table asset_taggings (
      tag_id ${int} not null references asset_tags (id) on delete cascade,
      asset_id ${int} not null references assets (id) on delete cascade,
      primary key (tag_id, asset_id)
    ) ${clustered}`,
    `create index asset_taggings_by_asset on asset_taggings (asset_id, tag_id)`,

    `create table listing_assets (
      assessment_id ${int} not null references assessments (id) on delete cascade,
      asset_id ${int} not null references assets (id) on delete cascade,
      primary key (asset_id, assessment_id)
    ) ${clustered}`,
    `create index listing_assets_by_assessment on listing_assets (assessment_id, asset_id)`,

    `create table scope_rules (
      assessment_id ${int} not null,
      asset_id ${int} not null,
      position ${int} not null,
      rule ${text} not null,
      primary key (asset_id, assessment_id, position),
      foreign key (asset_id, assessment_id) references listing_assets (asset_id, assessment_id) on delete cascade
    ) ${clustered}`,

    `create table ports (
      asset_id ${int} not null references assets (id) on delete cascade,
      protocol ${text} not null check (protocol in ('tcp', 'udp', 'sctp')),
      number ${int} not null check (number between 0 and 65535),
      observed_state ${text} not null,
      service_name ${text},
      service_banner ${text},
      product_name ${text},
      product_version ${text},
      cpe ${text},
      first_seen ${int} not null,
      last_seen ${int} not null,
      primary key (asset_id, number, protocol)
    ) ${clustered}`,
    `create index ports_by_state on ports (asset_id, observed_state, number, protocol)`,

    `create table port_counts (
      asset_id ${int} not null references assets (id) on delete cascade,
      observed_state ${text} not null,
      ports ${int} not null check (ports >= 0),
      primary key (asset_id, observed_state)
    ) ${clustered}`,

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
  ],
};
