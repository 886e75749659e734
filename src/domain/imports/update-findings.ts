import { sql } from 'kysely';
import {
  forNoKeyUpdate,
  inList,
  itemInteger,
  itemReal,
  itemText,
  jsonRowsTable,
} from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/engine.ts';
import { prepareWrite } from '../../db/prepared-queries.ts';
import type { SnapshotRecorder } from './finding-snapshots.ts';
import { findingCounters, systemAttribution } from './import-status-changes.ts';
import type { FindingsJob } from './import-types.ts';
import { normalizedTextsOf } from './insert-findings.ts';
import type { RepeatedSighting, ScannerColumns } from './sighting.ts';
import type { DeltaAccumulator } from '../shared/counters.ts';
import { recordTimelineEntries, type TimelineEntry } from '../vulnerabilities/timeline.ts';
import { counterDeltas } from '../vulnerabilities/vulnerability-counters.ts';

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
/** The most locations that one side of a timeline entry lists. */
const MAX_SNAPSHOT_LOCATIONS = 20;

export interface LockedFinding extends ScannerColumns {
  id: number;
  assessment_id: number;
  status_id: number;
  status_set_at: number;
  closed_at: number | null;
}

export const lockFindings = prepareWrite<{ ids: readonly number[] }, LockedFinding>((tx, p) =>
  tx
    .selectFrom('vulnerabilities')
    .select(['id', 'assessment_id', 'status_id', 'status_set_at', 'closed_at', ...SCANNER_COLUMNS])
    .where((eb) => inList(tx, eb.ref('id'), p.ids))
    .orderBy('id')
    .modifyEnd(forNoKeyUpdate(tx))
    .$castTo<LockedFinding>(),
);

/**
 * Writes what the scanner now reports differently, except for fields that a person edited, and records both in the
 * timeline.
 * @param snapshots records the overwritten values for an undo
 */
export async function applyScannerChanges(
  tx: Transaction,
  job: FindingsJob,
  changed: readonly RepeatedSighting[],
  back: readonly RepeatedSighting[],
  snapshots: SnapshotRecorder,
  sums: DeltaAccumulator,
  now: number,
): Promise<void> {
  const entries = new Map<number, TimelineEntry>();
  const addEntry = (id: number, change: Pick<TimelineEntry, 'before' | 'after'> = {}): void =>
    void entries.set(id, {
      organizationId: job.organizationId,
      vulnerabilityId: id,
      kind: 'seen',
      importId: job.id,
      ...change,
    });
  for (const { finding } of back) addEntry(finding.id);
  const ids = changed.map(({ finding }) => finding.id);
  const rows = new Map((ids.length === 0 ? [] : await lockFindings(tx, { ids })).map((row) => [row.id, row]));
  const edited = await fieldsEditedByPeople(tx, ids);
  const updates: (readonly (string | number | null)[])[] = [];
  for (const { sighting, finding } of changed) {
    const row = rows.get(finding.id);
    if (row === undefined) continue;
    snapshots.add(finding.id, { content: finding.content });
    const columns = sighting.columns();
    const differing = SCANNER_COLUMNS.filter((column) => row[column] !== columns[column]);
    const shown = differing.filter((column) => column !== 'http_requests');
    if (shown.length > 0)
      addEntry(finding.id, {
        before: fieldSnapshot(row, shown),
        after: fieldSnapshot(columns, shown),
      });
    const ownFields = edited.get(finding.id);
    const written = differing.filter((column) => ownFields?.has(FIELD_OF_COLUMN[column]) !== true);
    if (written.length === 0) continue;
    const values: ScannerColumns = {
      ...row,
      ...Object.fromEntries(written.map((column) => [column, columns[column]])),
    };
    // The vector determines the score, so both come from the same author.
    if (ownFields?.has('cvss_score') === true || ownFields?.has('cvss_vector') === true)
      Object.assign(values, { cvss_score: row.cvss_score, cvss_vector: row.cvss_vector });
    const overwritten = written.filter((column) => values[column] !== row[column]);
    snapshots.add(finding.id, {
      columns: Object.fromEntries(overwritten.map((column) => [column, row[column]])),
    });
    updates.push([
      finding.id,
      ...SCANNER_COLUMNS.map((column) => values[column]),
      ...normalizedTextsOf(values),
    ]);
    sums.add(
      counterDeltas(findingCounters(job, row), findingCounters(job, { ...row, severity: values.severity })),
    );
  }
  await overwriteFields(tx, updates, now);
  await recordTimelineEntries(tx, systemAttribution(job, now), [...entries.values()]);
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
      snapshot[name] = (JSON.parse(String(value)) as unknown[]).slice(0, MAX_SNAPSHOT_LOCATIONS);
    else snapshot[name] = value;
  }
  return snapshot;
}

/** @returns the fields that people have edited, by vulnerability */
export async function fieldsEditedByPeople(
  tx: Transaction,
  ids: readonly number[],
): Promise<Map<number, Set<string>>> {
  const edited = new Map<number, Set<string>>();
  if (ids.length === 0) return edited;
  const rows = await tx
    .selectFrom('timeline_entries')
    .select(['vulnerability_id', 'after'])
    .where('kind', '=', 'edited')
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .execute();
  for (const { vulnerability_id: id, after } of rows) {
    const fields = edited.get(id) ?? new Set();
    edited.set(id, fields);
    for (const name of Object.keys(JSON.parse(after ?? '{}') as object)) fields.add(name);
  }
  return edited;
}

/** @param rows id, the scanner columns in order, then the two search texts */
export async function overwriteFields(
  tx: Transaction,
  rows: readonly (readonly (string | number | null)[])[],
  now: number,
): Promise<void> {
  if (rows.length === 0) return;
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
    from ${jsonRowsTable(tx, rows)} where vulnerabilities.id = ${itemInteger(0)}`.execute(tx);
}
