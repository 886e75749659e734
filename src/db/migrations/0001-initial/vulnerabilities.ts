import type { SchemaDialect } from '../migration.ts';

/** Vulnerabilities, their tags and their timeline. */
export const vulnerabilitiesTables = ({
  id,
  int,
  real,
  text,
  tableOptions,
  clusteredOptions,
}: SchemaDialect): string[] => [
  // Columns of filters and sorts come first, long ones last. `reported_at` is in seconds since 1970, as in the API.
  // Lists are JSON. `counters` has the counts.
  `create table vulnerabilities (
    id ${id},
    organization_id ${int} not null,
    assessment_id ${int} not null,
    severity ${text} not null check (severity in ('Critical', 'High', 'Medium', 'Low', 'Informational')),
    severity_rank ${int} not null generated always as (case severity when 'Critical' then 4 when 'High' then 3
      when 'Medium' then 2 when 'Low' then 1 else 0 end) stored,
    status_id ${int} not null check (status_id between 1 and 9),
    status_set_at ${int} not null,
    closed_at ${int} check ((closed_at is not null) = (status_id >= 5)),
    cvss_score ${real} check (cvss_score between 0 and 10),
    cvss_vector ${text},
    created_at ${int} not null,
    reported_at ${int} not null generated always as (created_at / 1000) stored,
    updated_at ${int} not null,
    version ${int} not null default 1,
    created_by ${int} references users (id) on delete set null,
    assignee_id ${int} references users (id) on delete set null,
    due_on ${text},
    source ${text} not null default 'manual',
    first_seen_at ${int} not null,
    import_id ${int},
    retest_status ${text} check (retest_status in ('requested', 'verified', 'failed', 'blocked', 'cancelled')),
    status_before_retest ${int},
    location_count ${int} not null default 0,
    title ${text} not null,
    category_parent ${text} not null default 'Uncategorized',
    category_display ${text} not null default 'Uncategorized',
    cve_ids ${text} not null default '[]',
    cwe_ids ${text} not null default '[]',
    description ${text} not null,
    impact ${text} not null default '',
    recommended_fix ${text} not null default '',
    exploitable_locations ${text} not null default '[]',
    validation_steps ${text} not null default '[]',
    http_requests ${text} not null default '[]',
    reference_urls ${text} not null default '[]',
    search_title ${text} not null default '',
    search_description ${text} not null default '',
    unique (organization_id, id),
    foreign key (organization_id, assessment_id) references assessments (organization_id, id)
  ) ${tableOptions}`,
  `create index vulnerabilities_by_time on vulnerabilities (reported_at, id, status_id, severity_rank)`,
  `create index vulnerabilities_of_organization_by_time
    on vulnerabilities (organization_id, reported_at, id, status_id, severity_rank)`,
  `create index vulnerabilities_of_assessment_by_time
    on vulnerabilities (assessment_id, reported_at, id, status_id, severity_rank)`,
  `create index vulnerabilities_of_organization_by_change on vulnerabilities (organization_id, updated_at, id)`,
  `create index vulnerabilities_by_closing on vulnerabilities (organization_id, closed_at) where closed_at is not null`,
  `create index vulnerabilities_to_retest on vulnerabilities (organization_id, id) where retest_status = 'requested'`,
  `create index vulnerabilities_by_assignee on vulnerabilities (assignee_id, id) where assignee_id is not null`,
  `create index vulnerabilities_by_author on vulnerabilities (created_by, id) where created_by is not null`,
  `create index vulnerabilities_by_import on vulnerabilities (import_id, id) where import_id is not null`,
  `create index vulnerabilities_by_due_day on vulnerabilities (organization_id, due_on, id) where due_on is not null`,

  `create table vulnerability_tags (
    id ${id},
    organization_id ${int} not null references organizations (id),
    name ${text} not null,
    normalized_name ${text} not null,
    editable ${int} not null default 1 check (editable in (0, 1)),
    version ${int} not null default 1,
    unique (organization_id, normalized_name),
    unique (organization_id, id)
  ) ${tableOptions}`,

  `create table vulnerability_taggings (
    organization_id ${int} not null,
    vulnerability_id ${int} not null,
    tag_id ${int} not null,
    primary key (vulnerability_id, tag_id),
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade,
    foreign key (organization_id, tag_id) references vulnerability_tags (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index vulnerability_taggings_by_tag on vulnerability_taggings (tag_id, vulnerability_id)`,

  // Deleted with the vulnerability, and not by the retention of the audit log.
  `create table timeline_entries (
    id ${id},
    organization_id ${int} not null,
    vulnerability_id ${int} not null,
    at ${int} not null,
    kind ${text} not null check (kind in ('edited', 'status', 'tags', 'comment', 'attachment', 'retest', 'seen', 'gone')),
    user_id ${int} references users (id) on delete set null,
    before ${text},
    after ${text},
    comment_id ${int},
    import_id ${int},
    internal ${int} not null default 0 check (internal in (0, 1)),
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade
  ) ${tableOptions}`,
  `create index timeline_entries_by_vulnerability on timeline_entries (vulnerability_id, at, id)`,
  `create index timeline_entries_by_user on timeline_entries (user_id) where user_id is not null`,
];

/** Relates vulnerabilities and assets; created after both. */
export const vulnerabilityAssetsTables = ({ int, clusteredOptions }: SchemaDialect): string[] => [
  `create table vulnerability_assets (
    organization_id ${int} not null,
    vulnerability_id ${int} not null,
    asset_id ${int} not null,
    primary key (vulnerability_id, asset_id),
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade,
    foreign key (organization_id, asset_id) references assets (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index vulnerability_assets_by_asset on vulnerability_assets (asset_id, vulnerability_id)`,
];
