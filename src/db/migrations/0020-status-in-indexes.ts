import type { Migration } from './migration.ts';

/**
 * Removes the status from the indexes by due day, score and title, and from the one by time that spans organizations
 * (ADR 102). Statuses change most often of all filtered columns, and each index with the status is written again then. The
 * one by time gets the source, so that rows of other sources are not read.
 */
export const statusInIndexes: Migration = {
  name: '0020-status-in-indexes',
  statements: () =>
    [
      ['vulnerabilities_by_time', 'reported_at, id, severity_rank, draft, source'],
      ['vulnerabilities_by_due_day', 'organization_id, due_on, id, severity_rank, draft, source'],
      ['vulnerabilities_by_score', 'organization_id, cvss_score, id, severity_rank, draft, source'],
      ['vulnerabilities_by_title', 'organization_id, title, id, severity_rank, draft, source'],
    ].flatMap(([name, columns]) => [
      `drop index ${name}`,
      `create index ${name} on vulnerabilities (${columns})`,
    ]),
};
