import { sql } from 'kysely';
import { prepareInsert } from '../../db/bulk-insert.ts';
import {
  inList,
  itemInteger,
  itemReal,
  itemText,
  jsonRowsTable,
  type RowLock,
} from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { prepareWrite } from '../../db/prepared-queries.ts';
import type { Row } from '../../db/schema.ts';
import { searchColumns } from '../../db/vulnerability-search.ts';
import { memoizeByLock } from '../shared/lock-rows.ts';
import type { ScannerColumns } from './finding-detections.ts';
import type { FindingContent } from './finding-facts.ts';

/** The columns that a scanner fills, each with its field in the API and the timeline. Lists are stored as JSON. */
export const FIELD_OF_COLUMN = {
  title: 'title',
  severity: 'severity',
  description: 'description',
  cvss_score: 'cvss_score',
  cvss_vector: 'cvss_vector',
  impact: 'impact',
  recommended_fix: 'recommended_fix',
  category_parent: 'category',
  category_display: 'category',
  cve_ids: 'cve_ids',
  cwe_ids: 'cwe_ids',
  exploitable_locations: 'exploitable_locations',
  http_requests: 'http_requests',
  reference_urls: 'reference_urls',
  location_count: 'exploitable_locations',
} as const satisfies Record<keyof ScannerColumns, string>;

export type ScannerColumn = keyof ScannerColumns;
export const SCANNER_COLUMNS = Object.keys(FIELD_OF_COLUMN) as ScannerColumn[];
const JSON_LIST_COLUMNS: ReadonlySet<ScannerColumn> = new Set([
  'cve_ids',
  'cwe_ids',
  'exploitable_locations',
  'reference_urls',
]);
/** The most items of a list that one side of a timeline entry shows. */
const MAX_SNAPSHOT_ITEMS = 20;

/** A locked vulnerability. It lacks the scanner's content, which most changes do not need. */
export type LockedVulnerabilityRow = Pick<
  Row<'vulnerabilities'>,
  | 'id'
  | 'severity'
  | 'status_id'
  | 'created_at'
  | 'closed_at'
  | 'retest_status'
  | 'status_before_retest'
  | 'import_id'
  | 'first_seen_at'
  | 'reported_by_staff'
  | 'draft'
>;

export const lockVulnerabilityRows = memoizeByLock((lock: RowLock) =>
  prepareWrite<{ ids: readonly number[] }, LockedVulnerabilityRow>((tx, p) =>
    tx
      .selectFrom('vulnerabilities')
      .select([
        'id',
        'severity',
        'status_id',
        'created_at',
        'closed_at',
        'retest_status',
        'status_before_retest',
        'import_id',
        'first_seen_at',
        'reported_by_staff',
        'draft',
      ])
      .where((eb) => inList(tx, eb.ref('id'), p.ids))
      .orderBy('id')
      .modifyEnd(lock(tx)),
  ),
);

/** @returns the displayed contents of vulnerabilities, by id */
export async function loadShownColumns(
  tx: Transaction,
  ids: readonly number[],
): Promise<Map<number, ScannerColumns>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .selectFrom('vulnerabilities')
    .select(['id', ...SCANNER_COLUMNS])
    .where((eb) => inList(tx, eb.ref('id'), ids))
    .$castTo<ScannerColumns & { id: number }>()
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

const insertContents = prepareInsert(
  'finding_contents',
  {
    vulnerability_id: 'int',
    number: 'int',
    content_hash: 'text',
    cover_key: 'text',
    cover_host: 'text',
    cover_ports: 'text',
    tags: 'text',
    asset_id: 'int',
    columns: 'text',
  },
  'on conflict do nothing',
);

export interface NewContent {
  id: number;
  content: FindingContent;
  /** Id of the asset that it links. */
  asset: number | null;
  columns: ScannerColumns;
}

/** Stores contents that are not stored yet. */
export async function storeContents(tx: Transaction, contents: readonly NewContent[]): Promise<void> {
  await insertContents(
    tx,
    contents.map(({ id, content, asset, columns }) => [
      id,
      content.number,
      content.content_hash,
      content.cover_key,
      content.cover_host,
      content.cover_ports,
      content.tags,
      asset,
      JSON.stringify(SCANNER_COLUMNS.map((column) => columns[column])),
    ]),
  );
}

export interface LoadedContent {
  columns: ScannerColumns;
  asset: number | null;
}

/** @returns the wanted content of each finding; none for a vulnerability that has always shown the same content */
export async function loadContents(
  tx: Transaction,
  findings: readonly { id: number; latest: FindingContent }[],
): Promise<Map<number, LoadedContent>> {
  if (findings.length === 0) return new Map();
  const pairs = findings.map(({ id, latest }) => [id, latest.number]);
  const { rows } = await sql<{ vulnerability_id: number; asset_id: number | null; columns: string }>`
    select vulnerability_id, asset_id, columns from finding_contents, ${jsonRowsTable(tx, pairs)}
    where vulnerability_id = ${itemInteger(0)} and number = ${itemInteger(1)}`.execute(tx);
  return new Map(
    rows.map((row) => {
      const values = JSON.parse(row.columns) as (string | number | null)[];
      const columns = Object.fromEntries(SCANNER_COLUMNS.map((column, index) => [column, values[index]]));
      // `storeContents` wrote the values in this order.
      return [row.vulnerability_id, { asset: row.asset_id, columns: columns as unknown as ScannerColumns }];
    }),
  );
}

/** Deletes contents that no detection refers to and no finding shows. */
export async function deleteUnusedContents(tx: Transaction, ids: readonly number[]): Promise<void> {
  await sql`delete from finding_contents where ${inList(tx, sql.ref<number>('vulnerability_id'), ids)}
    and not exists (select 1 from detections where detections.vulnerability_id = finding_contents.vulnerability_id
      and detections.content = finding_contents.number)
    and not exists (select 1 from scanner_findings as finding
      where finding.vulnerability_id = finding_contents.vulnerability_id and finding.content = finding_contents.number)`.execute(
    tx,
  );
}

/** @returns the given columns as the timeline shows them, by API field */
export function fieldSnapshot(
  columns: ScannerColumns,
  names: readonly ScannerColumn[],
): Record<string, unknown> {
  const snapshot: Record<string, unknown> = {};
  for (const name of names) {
    const value = columns[name];
    if (FIELD_OF_COLUMN[name] === 'category')
      snapshot['category'] = { parent: columns.category_parent, display: columns.category_display };
    else if (JSON_LIST_COLUMNS.has(name))
      snapshot[name] = (JSON.parse(String(value)) as unknown[]).slice(0, MAX_SNAPSHOT_ITEMS);
    else snapshot[name] = value;
  }
  return snapshot;
}

export async function overwriteColumns(
  tx: Transaction,
  rows: readonly { id: number; columns: ScannerColumns }[],
  now: number,
): Promise<void> {
  if (rows.length === 0) return;
  const lists = rows.map(({ id, columns }) => {
    const { search_title: title, search_description: description } = searchColumns(columns);
    return [id, ...SCANNER_COLUMNS.map((column) => columns[column]), title, description];
  });
  const values = SCANNER_COLUMNS.map((column, index) => {
    const value = itemText(index + 1);
    const typed =
      column === 'cvss_score'
        ? itemReal(index + 1)
        : column === 'location_count'
          ? itemInteger(index + 1)
          : value;
    return sql`${sql.ref(column)} = ${typed}`;
  });
  await sql`update vulnerabilities set ${sql.join(values)}, search_title = ${itemText(SCANNER_COLUMNS.length + 1)},
      search_description = ${itemText(SCANNER_COLUMNS.length + 2)}, updated_at = ${now}, version = version + 1
    from ${jsonRowsTable(tx, lists)} where vulnerabilities.id = ${itemInteger(0)}`.execute(tx);
}

/** Records which content each finding shows. */
export async function setLatestContents(
  tx: Transaction,
  rows: readonly { id: number; latest: FindingContent }[],
): Promise<void> {
  if (rows.length === 0) return;
  const lists = rows.map(({ id, latest }) => [
    id,
    latest.number,
    latest.content_hash,
    latest.cover_key,
    latest.cover_host,
    latest.cover_ports,
    latest.tags,
  ]);
  await sql`update scanner_findings set content = ${itemInteger(1)}, content_hash = ${itemText(2)}, cover_key = ${itemText(3)},
      cover_host = ${itemText(4)}, cover_ports = ${itemText(5)}, tags = ${itemText(6)}
    from ${jsonRowsTable(tx, lists)} where vulnerability_id = ${itemInteger(0)}`.execute(tx);
}
