import type { Migration, SchemaDialect } from './migration.ts';

/**
 * Stores what each import saw and covered as rows, from which everything else is derived (ADR 92). A database of an
 * earlier version knows when a finding was first and last seen and by which import, and which import no longer had it:
 * these become its first detections and scan scopes.
 */
export const detections: Migration = {
  name: '0008-detections',
  statements: (dialect) => [
    ...scanScopes(dialect),
    ...findings(dialect),
    ...assetDetections(dialect),
    ...searchIndex(dialect),
    'drop table import_status_changes',
    'drop table import_finding_snapshots',
    'drop table import_coverage',
    'drop table earlier_findings',
    // The time of a report that has none itself: the given one, or that of the upload.
    `alter table imports add column fallback_report_at ${dialect.int}`,
    'update imports set fallback_report_at = report_at where report_at is not null',
  ],
};

/** Whether an import stands: not undone. */
const stands = (id: string) =>
  `exists (select 1 from imports where imports.id = ${id} and imports.undone is null)`;

/** An expression that is 1 for an import that fixes what it no longer has. */
const fixes = (id: string) =>
  `(select case when options like '%"whenGone":"fix"%' then 1 else 0 end from imports where imports.id = ${id})`;

const scanScopes = ({ int, text, clusteredOptions }: SchemaDialect): string[] => [
  // What a complete report covered. `fixes`: whether the import sets findings to Fixed that the report no longer has.
  `create table scan_scopes (
    organization_id ${int} not null,
    assessment_id ${int} not null,
    source ${text} not null,
    cover_key ${text} not null,
    ports ${text} not null default '',
    covered_at ${int} not null,
    import_id ${int} not null,
    fixes ${int} not null check (fixes in (0, 1)),
    primary key (assessment_id, source, cover_key, ports, import_id),
    foreign key (organization_id, import_id) references imports (organization_id, id) on delete cascade,
    foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index scan_scopes_by_import on scan_scopes (import_id)`,
  `insert into scan_scopes
    select organization_id, assessment_id, source, cover_key, ports, covered_at, import_id, ${fixes('import_id')}
    from import_coverage where ${stands('import_id')}`,
  `insert into scan_scopes
    select organization_id, assessment_id, source, cover_key, ports, previous_covered_at, previous_import_id,
      ${fixes('previous_import_id')}
    from import_coverage where previous_covered_at is not null and ${stands('previous_import_id')}
    on conflict do nothing`,
  `insert into scan_scopes
    select organization_id, assessment_id, source, cover_key, cover_ports, min(gone_at), gone_import_id,
      min(${fixes('gone_import_id')})
    from scanner_findings
    where gone_import_id is not null and cover_key is not null and ${stands('gone_import_id')}
    group by organization_id, assessment_id, source, cover_key, cover_ports, gone_import_id
    on conflict do nothing`,

  // Findings that a report of a scope names without having tested them.
  `create table untested_findings (
    organization_id ${int} not null,
    assessment_id ${int} not null,
    identity_hash ${text} not null,
    import_id ${int} not null,
    primary key (assessment_id, identity_hash, import_id),
    foreign key (organization_id, import_id) references imports (organization_id, id) on delete cascade,
    foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index untested_findings_by_import on untested_findings (import_id)`,
];

const findings = ({ int, text, tableOptions, clusteredOptions }: SchemaDialect): string[] => [
  `alter table scanner_findings rename to earlier_findings`,
  `drop index scanner_findings_by_cover`,
  `drop index scanner_findings_gone`,
  // A finding by its identity. `vulnerability_id` is reserved for it: the vulnerability exists once an import made it.
  // `content` is the number of its latest content.
  `create table scanner_findings (
    vulnerability_id ${int} not null primary key,
    organization_id ${int} not null,
    assessment_id ${int} not null,
    identity_hash ${text} not null,
    source ${text} not null,
    cover_key ${text},
    cover_host ${text},
    cover_ports ${text} not null default '',
    tags ${text},
    content_hash ${text} not null,
    content ${int} not null default 0,
    gone_at ${int},
    gone_import_id ${int},
    unique (identity_hash, assessment_id),
    foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade
  ) ${tableOptions}`,
  `insert into scanner_findings
    select vulnerability_id, organization_id, assessment_id, identity_hash, source, cover_key, cover_host, cover_ports,
      null, content_hash, 0, gone_at, gone_import_id
    from earlier_findings`,
  `create index scanner_findings_by_cover on scanner_findings (assessment_id, cover_key, vulnerability_id)`,
  // Partial: few findings are gone, and the others cost nothing.
  `create index scanner_findings_gone on scanner_findings (organization_id, gone_import_id, vulnerability_id)
    where gone_import_id is not null`,

  // That an import saw a finding. Narrow and clustered by finding: seeing it again adds a row here and nothing else.
  // Without a foreign key, which on PostgreSQL would lock the row of the finding.
  // `is_made`: whether it creates the vulnerability, unlike one below the minimum severity. `is_timed`: whether its
  // time is known. `carried_status_id`: a decision that the import carries over.
  `create table detections (
    vulnerability_id ${int} not null,
    seen_at ${int} not null,
    import_id ${int} not null,
    first_seen_at ${int} not null,
    content ${int} not null,
    is_made ${int} not null,
    is_timed ${int} not null,
    carried_status_id ${int},
    primary key (vulnerability_id, is_timed, seen_at, import_id)
  ) ${clusteredOptions}`,
  // The last import. Without the first it says when the finding was first seen. A status that an import set, and that
  // these rows do not explain, is carried over.
  `insert into detections
    select old.vulnerability_id, old.last_seen_at, old.last_import_id,
      case when old.last_import_id = made.import_id or not ${stands('made.import_id')} then old.first_seen_at
        else old.last_seen_at end,
      0, 1, 1,
      case when old.last_import_id = made.import_id or not ${stands('made.import_id')} then ${carriedStatus} end
    from earlier_findings as old join vulnerabilities as made on made.id = old.vulnerability_id
    where ${stands('old.last_import_id')}`,
  `insert into detections
    select old.vulnerability_id, old.first_seen_at, made.import_id, old.first_seen_at, 0, 1, 1, ${carriedStatus}
    from earlier_findings as old join vulnerabilities as made on made.id = old.vulnerability_id
    where made.import_id <> old.last_import_id and ${stands('made.import_id')}`,
  `insert into detections
    select old.vulnerability_id, old.previous_seen_at, old.previous_import_id, old.previous_seen_at, 0, 1, 1, null
    from earlier_findings as old join vulnerabilities as made on made.id = old.vulnerability_id
    where old.previous_import_id is not null and old.previous_import_id <> old.last_import_id
      and old.previous_import_id <> made.import_id and ${stands('old.previous_import_id')}
    on conflict do nothing`,

  // The contents of findings that have more than one, or no vulnerability. `columns` is JSON. Without a foreign key,
  // whose check costs as much as the deletion of the finding.
  `create table finding_contents (
    vulnerability_id ${int} not null,
    number ${int} not null,
    content_hash ${text} not null,
    cover_key ${text},
    cover_host ${text},
    cover_ports ${text} not null,
    tags ${text},
    asset_id ${int},
    columns ${text} not null,
    primary key (vulnerability_id, number)
  ) ${tableOptions}`,
];

/** The status that an import gave the vulnerability `made`, unless its scan scopes explain it. */
const carriedStatus = `(select max(status.after) from import_status_changes as status
  where status.vulnerability_id = made.id and status.after = made.status_id and made.status_id <> 5)`;

const assetDetections = ({ int, clusteredOptions }: SchemaDialect): string[] => [
  `create table asset_detections (
    organization_id ${int} not null,
    asset_id ${int} not null,
    import_id ${int} not null,
    first_seen_at ${int} not null,
    seen_at ${int} not null,
    primary key (asset_id, import_id),
    foreign key (organization_id, asset_id) references assets (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index asset_detections_by_import on asset_detections (import_id, asset_id)`,
  `insert into asset_detections
    select organization_id, id, import_id, coalesce(first_seen, created_at), coalesce(last_seen, created_at)
    from assets where import_id is not null and ${stands('assets.import_id')}`,
  `insert into asset_detections
    select link.organization_id, link.asset_id, seen.import_id, min(seen.first_seen_at), max(seen.seen_at)
    from vulnerability_assets as link join detections as seen on seen.vulnerability_id = link.vulnerability_id
    where true group by link.organization_id, link.asset_id, seen.import_id
    on conflict do nothing`,
];

/**
 * An undo can delete a million vulnerabilities. By default, FTS5 rewrites a part of its index whenever a tenth of it is
 * deleted; now it drops parts that are deleted completely, and the others when it merges them anyway.
 */
const searchIndex = ({ engine }: SchemaDialect): string[] =>
  engine === 'sqlite'
    ? ["insert into vulnerability_search (vulnerability_search, rank) values ('deletemerge', 100)"]
    : [];
