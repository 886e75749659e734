import type { SchemaDialect } from '../migration.ts';

/** Imports, and the scanner data of the findings that they created. */
export const importsTables = ({ id, int, text, tableOptions, clusteredOptions }: SchemaDialect): string[] => [
  // Columns of filters come first; JSON columns are as in the API.
  `create table imports (
    id ${id},
    organization_id ${int} not null references organizations (id),
    assessment_id ${int},
    created_by ${int} references users (id) on delete set null,
    state ${text} not null default 'queued'
      check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    cancel_requested ${int} not null default 0 check (cancel_requested in (0, 1)),
    format ${text} not null,
    filename ${text} not null,
    size ${int} not null,
    sha256 ${text} not null,
    blob_key ${text} references blobs (key),
    report_at ${int},
    created_at ${int} not null,
    started_at ${int},
    finished_at ${int},
    options ${text} not null,
    started_by_caller ${text} not null,
    progress ${text} not null default '{}',
    skips ${text} not null default '[]',
    result ${text},
    preview ${text},
    error ${text},
    undone ${text},
    unique (organization_id, id),
    foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade
  ) ${tableOptions}`,
  `create index imports_of_organization on imports (organization_id, created_at, id)`,
  `create index imports_of_assessment on imports (assessment_id, created_at, id) where assessment_id is not null`,
  `create index imports_to_do on imports (state, organization_id, id) where state in ('queued', 'running')`,
  // For fairness between organizations: the queued import of the one that was served least recently starts next.
  `create index imports_by_start on imports (organization_id, started_at)`,
  `create index imports_of_files on imports (organization_id, sha256)`,

  `create table scanner_findings (
    vulnerability_id ${int} not null primary key,
    organization_id ${int} not null,
    assessment_id ${int} not null,
    identity_hash ${text} not null,
    source ${text} not null,
    cover_key ${text},
    cover_host ${text},
    cover_ports ${text} not null default '',
    content_hash ${text} not null,
    first_seen_at ${int} not null,
    last_seen_at ${int} not null,
    last_import_id ${int} not null,
    previous_seen_at ${int},
    previous_import_id ${int},
    gone_at ${int},
    gone_import_id ${int},
    unique (identity_hash, assessment_id),
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade
  ) ${tableOptions}`,

  // Ranges of imported vulnerabilities that are not in the search index yet.
  `create table search_index_queue (
    first_id ${int} not null primary key,
    last_id ${int} not null
  ) ${tableOptions}`,

  `create index scanner_findings_by_cover on scanner_findings (assessment_id, cover_key, vulnerability_id)
    where cover_key is not null`,
  // Partial: few findings are gone, and the others cost nothing.
  `create index scanner_findings_gone on scanner_findings (organization_id, gone_import_id, vulnerability_id)
    where gone_import_id is not null`,

  `create table import_status_changes (
    import_id ${int} not null,
    vulnerability_id ${int} not null,
    organization_id ${int} not null,
    before ${int} not null,
    after ${int} not null,
    status_set_at ${int} not null,
    closed_at ${int},
    set_at ${int} not null,
    primary key (import_id, vulnerability_id),
    foreign key (organization_id, import_id) references imports (organization_id, id) on delete cascade,
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index import_status_changes_by_vulnerability on import_status_changes (vulnerability_id)`,

  // Only for findings that changed, as texts make the rows wide.
  `create table import_finding_snapshots (
    id ${id},
    import_id ${int} not null,
    vulnerability_id ${int} not null,
    organization_id ${int} not null,
    changed_at ${int} not null,
    before ${text} not null,
    unique (import_id, vulnerability_id),
    foreign key (organization_id, import_id) references imports (organization_id, id) on delete cascade,
    foreign key (organization_id, vulnerability_id) references vulnerabilities (organization_id, id) on delete cascade
  ) ${tableOptions}`,
  `create index import_finding_snapshots_by_vulnerability on import_finding_snapshots (vulnerability_id)`,
  `create index import_finding_snapshots_by_age on import_finding_snapshots (changed_at)`,

  `create table import_coverage (
    organization_id ${int} not null,
    assessment_id ${int} not null,
    source ${text} not null,
    cover_key ${text} not null,
    ports ${text} not null default '',
    covered_at ${int} not null,
    import_id ${int} not null,
    previous_covered_at ${int},
    previous_import_id ${int},
    primary key (assessment_id, source, cover_key, ports),
    foreign key (organization_id, import_id) references imports (organization_id, id) on delete cascade,
    foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index import_coverage_by_import on import_coverage (import_id)`,

  // Nmap lists a thousand ports, the same for each host of a scan.
  `create table port_sets (
    organization_id ${int} not null references organizations (id) on delete cascade,
    name ${text} not null,
    ports ${text} not null,
    primary key (organization_id, name)
  ) ${clusteredOptions}`,
];
