import type { Migration } from './migration.ts';

/**
 * Indexes for the orders of an organization's vulnerabilities (ADR 102). They also tell status, severity and, to client
 * users, drafts without the row. `source` has no index of its own.
 */
export const listIndexes: Migration = {
  name: '0017-list-indexes',
  statements: () => [
    `create index vulnerabilities_by_severity on vulnerabilities (organization_id, severity_rank, id, status_id, draft)`,
    `create index vulnerabilities_by_status
      on vulnerabilities (organization_id, status_id, id, severity_rank, draft, source)`,
    `create index vulnerabilities_by_score
      on vulnerabilities (organization_id, cvss_score, id, status_id, severity_rank, draft)`,
    `create index vulnerabilities_by_title
      on vulnerabilities (organization_id, title, id, status_id, severity_rank, draft)`,
    // Had requested retests only.
    `drop index vulnerabilities_to_retest`,
    `create index vulnerabilities_by_retest on vulnerabilities (organization_id, retest_status, id)
      where retest_status is not null`,
  ],
};
