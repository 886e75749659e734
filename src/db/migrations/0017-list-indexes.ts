import type { Migration } from './migration.ts';

/**
 * Creates an index for each order of an organization's vulnerabilities (ADR 102). The indexes include the columns of the
 * most frequent filters, so that rows that these exclude are not read. Rows without a due day come in the order of their ids, so that their entries cost
 * little.
 */
export const listIndexes: Migration = {
  name: '0017-list-indexes',
  statements: () => [
    'drop index vulnerabilities_of_organization_by_time',
    'drop index vulnerabilities_of_organization_by_change',
    'drop index vulnerabilities_by_due_day',
    `create index vulnerabilities_of_organization_by_time
      on vulnerabilities (organization_id, reported_at, id, status_id, severity_rank, draft, source)`,
    `create index vulnerabilities_of_organization_by_change
      on vulnerabilities (organization_id, updated_at, id, status_id, severity_rank, draft, source, created_at)`,
    `create index vulnerabilities_by_due_day
      on vulnerabilities (organization_id, due_on, id, status_id, severity_rank, draft, source)`,
    `create index vulnerabilities_by_severity
      on vulnerabilities (organization_id, severity_rank, id, status_id, draft, source)`,
    `create index vulnerabilities_by_status
      on vulnerabilities (organization_id, status_id, id, severity_rank, draft, source)`,
    `create index vulnerabilities_by_score
      on vulnerabilities (organization_id, cvss_score, id, status_id, severity_rank, draft, source)`,
    `create index vulnerabilities_by_title
      on vulnerabilities (organization_id, title, id, status_id, severity_rank, draft, source)`,
    // Start with the user because of the foreign key, and include the organization: a filter must not read rows of others.
    'drop index vulnerabilities_by_assignee',
    'drop index vulnerabilities_by_author',
    `create index vulnerabilities_by_assignee on vulnerabilities (assignee_id, organization_id, id)
      where assignee_id is not null`,
    `create index vulnerabilities_by_author on vulnerabilities (created_by, organization_id, id)
      where created_by is not null`,
    // Had requested retests only.
    'drop index vulnerabilities_to_retest',
    `create index vulnerabilities_by_retest on vulnerabilities (organization_id, retest_status, id)
      where retest_status is not null`,
  ],
};
