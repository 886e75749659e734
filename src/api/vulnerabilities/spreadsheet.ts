import { ASSET_READ_SCOPES } from '../../auth/scopes.ts';
import { STATUS_NAMES } from '../../domain/shared/statuses-and-severities.ts';
import type { ListContext } from '../../domain/lists/filters.ts';
import type { Vulnerability } from '../../domain/vulnerabilities/read-vulnerability.ts';

/** The columns that people read in a spreadsheet. */
export const SPREADSHEET_COLUMNS = [
  'id',
  'title',
  'severity',
  'status',
  'cvss_score',
  'assessment',
  'assets',
  'assignee',
  'due_on',
  'tags',
  'cve_ids',
  'cwe_ids',
  'source',
  'created_at',
  'closed_at',
] as const;

type Cells = Record<(typeof SPREADSHEET_COLUMNS)[number], string | number | null>;

/** @returns the cells of a vulnerability; a token that cannot read assets gets their uids, as in the other formats */
export function toSpreadsheetCells(vulnerability: Vulnerability, { caller }: ListContext): Cells {
  const { assessment, assignee, closedAt } = vulnerability;
  const readsAssets = ASSET_READ_SCOPES.some((scope) => caller.scopes.has(scope));
  return {
    id: vulnerability.id,
    title: vulnerability.title,
    severity: vulnerability.severity,
    status: STATUS_NAMES.get(vulnerability.statusId) ?? '',
    cvss_score: vulnerability.cvssScore,
    assessment: assessment.name,
    assets: joinItems(vulnerability.assets.map(({ uid, location }) => (readsAssets ? location : uid))),
    assignee: assignee === null ? null : (assignee.name ?? assignee.email),
    due_on: vulnerability.dueOn,
    tags: joinItems(vulnerability.tags.map(({ name }) => name)),
    cve_ids: joinItems(vulnerability.cveIds),
    cwe_ids: joinItems(vulnerability.cweIds),
    source: vulnerability.source,
    created_at: formatSecond(vulnerability.createdAt),
    closed_at: closedAt === null ? null : formatSecond(closedAt),
  };
}

const joinItems = (items: readonly string[]) => items.join('; ');

/** Formats a time in UTC as spreadsheets read it. */
const formatSecond = (milliseconds: number) =>
  new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
