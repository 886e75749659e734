import type { Transaction, ReadConnection } from '../../db/database.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import { searchColumns } from '../../db/vulnerability-search.ts';
import { closedAt } from '../shared/statuses-and-severities.ts';
import type { VulnerabilityFieldColumns } from './vulnerability-fields.ts';
import type { VulnerabilityRow } from './vulnerability-row.ts';
import { sql } from 'kysely';
import { inList, forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { groupBy } from '../shared/group-by.ts';
import { lockRows } from '../shared/lock-rows.ts';

const COLUMNS = {
  id: 'int',
  organization_id: 'int',
  assessment_id: 'int',
  severity: 'text',
  status_id: 'int',
  status_set_at: 'int',
  closed_at: 'int',
  cvss_score: 'real',
  cvss_vector: 'text',
  created_at: 'int',
  updated_at: 'int',
  created_by: 'int',
  reported_by_staff: 'int',
  draft: 'int',
  assignee_id: 'int',
  due_on: 'text',
  source: 'text',
  first_seen_at: 'int',
  import_id: 'int',
  location_count: 'int',
  title: 'text',
  category_parent: 'text',
  category_display: 'text',
  cve_ids: 'text',
  cwe_ids: 'text',
  description: 'text',
  impact: 'text',
  recommended_fix: 'text',
  exploitable_locations: 'text',
  validation_steps: 'text',
  http_requests: 'text',
  reference_urls: 'text',
  search_title: 'text',
  search_description: 'text',
} as const;
/** The `source` of vulnerabilities that no scanner reported. */
export const MANUAL_SOURCE = 'manual';

const COLUMN_NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
const insertRows = prepareInsert('vulnerabilities', COLUMNS);

export type VulnerabilityInsertRow = VulnerabilityRow & { search_title: string; search_description: string };

/** @returns the row of a manually reported vulnerability; importers override some columns */
export function buildVulnerabilityRow(
  fields: VulnerabilityFieldColumns,
  {
    id,
    assessment,
    statusId,
    reporter,
    isDraft,
    now,
  }: {
    id: number;
    assessment: { id: number; organization_id: number };
    statusId: number;
    /** The user, if any, and whether they are staff. */
    reporter: { userId: number | null; staff: boolean };
    isDraft: boolean;
    now: number;
  },
): VulnerabilityInsertRow {
  return {
    id,
    version: 1,
    organization_id: assessment.organization_id,
    assessment_id: assessment.id,
    status_id: statusId,
    status_set_at: now,
    closed_at: closedAt(statusId, now),
    created_at: now,
    updated_at: now,
    created_by: reporter.userId,
    reported_by_staff: reporter.staff ? 1 : 0,
    draft: isDraft ? 1 : 0,
    published_by: null,
    assignee_id: null,
    due_on: null,
    source: MANUAL_SOURCE,
    first_seen_at: now,
    import_id: null,
    ...searchColumns(fields),
    ...fields,
  };
}

/** Inserts rows whose ids are reserved already. Links follow. */
export function insertVulnerabilities(
  tx: Transaction,
  rows: readonly VulnerabilityInsertRow[],
): Promise<void> {
  return insertRows(
    tx,
    rows.map((row) => COLUMN_NAMES.map((name) => row[name])),
  );
}

// A tag or an asset that is deleted concurrently violates the foreign key: the transaction is then run again.

const LINK = { organization_id: 'int', vulnerability_id: 'int' } as const;
export const insertVulnerabilityTags = prepareInsert('vulnerability_taggings', { ...LINK, tag_id: 'int' });
const insertAssetLinks = prepareInsert('vulnerability_assets', { ...LINK, asset_id: 'int' });

/**
 * Locks the assets too, as the counts of their vulnerabilities change later.
 * @param links organization, vulnerability and asset
 */
export async function insertVulnerabilityAssets(
  tx: Transaction,
  links: readonly (readonly [organization: number, vulnerability: number, asset: number])[],
): Promise<void> {
  await lockRows(
    tx,
    'assets',
    links.map(([, , asset]) => asset),
    forNoKeyUpdate,
  );
  await insertAssetLinks(tx, links);
}

const LINKS = {
  tags: { table: 'vulnerability_taggings', column: 'tag_id' },
  assets: { table: 'vulnerability_assets', column: 'asset_id' },
} as const;

/** @returns by vulnerability, the ids of its tags or assets, ascending */
export async function loadLinkedIds(
  db: ReadConnection,
  kind: keyof typeof LINKS,
  vulnerabilityIds: readonly number[],
): Promise<Map<number, number[]>> {
  const { table, column } = LINKS[kind];
  const { rows } = await sql<{ vulnerability_id: number; link: number }>`
    select vulnerability_id, ${sql.ref(column)} as link from ${sql.table(table)}
    where ${inList(db, sql.ref<number>('vulnerability_id'), vulnerabilityIds)}
    order by vulnerability_id, link`.execute(db);
  return groupBy(
    rows,
    (row) => row.vulnerability_id,
    ({ link }) => link,
  );
}
