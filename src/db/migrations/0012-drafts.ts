import type { Migration } from './migration.ts';

/** Drafts: vulnerabilities that staff have not published yet. */
export const drafts: Migration = {
  name: '0012-drafts',
  statements: ({ int, text }) => [
    `alter table vulnerabilities add column draft ${int} not null default 0 check (draft in (0, 1))`,
    `alter table vulnerabilities add column published_by ${int} references users (id) on delete set null`,
    `alter table vulnerabilities add column published_import_id ${int}`,
    `create index vulnerabilities_by_publisher on vulnerabilities (published_by) where published_by is not null`,
    `create index vulnerabilities_draft on vulnerabilities (organization_id, reported_at, id) where draft = 1`,
    // Client users see no drafts, so these also tell which rows are drafts, without reading them.
    ...COVERING_INDEXES.flatMap(([name, columns]) => [
      `drop index ${name}`,
      `create index ${name} on vulnerabilities (${columns}reported_at, id, status_id, severity_rank, draft)`,
    ]),
    `alter table assessments add column drafts ${text} not null default 'off'
      check (drafts in ('off', 'on', 'second_person'))`,
    `alter table imports add column hides_findings ${int} not null default 0 check (hides_findings in (0, 1))`,
    `alter table audit_events add column internal ${int} not null default 0 check (internal in (0, 1))`,
  ],
};

const COVERING_INDEXES = [
  ['vulnerabilities_by_time', ''],
  ['vulnerabilities_of_organization_by_time', 'organization_id, '],
  ['vulnerabilities_of_assessment_by_time', 'assessment_id, '],
] as const;
