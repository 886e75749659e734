import { sql } from 'kysely';
import type { Transaction } from '../../db/engine.ts';
import { eachList, holdingRows, isOneOf } from '../../db/dialect-sql.ts';
import { prepareWrite } from '../../db/prepared-queries.ts';
import type { TallySums } from '../shared/counters.ts';
import { recordTimelines, type TimelineEntry } from '../vulnerabilities/timeline.ts';
import { tallyDifferences } from '../vulnerabilities/vulnerability-counters.ts';
import type { FindingsBefore } from './finding-snapshots.ts';
import type { FindingsJob } from './import-types.ts';
import { unnamed } from './import-status-changes.ts';
import { keysOf } from './insert-findings.ts';
import { countedOf } from './set-statuses.ts';
import type { Again, SightedColumns } from './sighting.ts';

const int = (index: number) => sql<number>`cast(item.value ->> ${sql.lit(index)} as bigint)`;
const real = (index: number) => sql<number>`cast(item.value ->> ${sql.lit(index)} as double precision)`;
const text = (index: number) => sql<string>`item.value ->> ${sql.lit(index)}`;

/** Columns that a scanner fills, and how the API and timelines call them; lists are JSON. */
export const FIELDS = {
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
} as const satisfies Record<keyof SightedColumns, string>;

export type Column = keyof SightedColumns;
export const COLUMNS = Object.keys(FIELDS) as Column[];
const LISTS: ReadonlySet<Column> = new Set(['cve_ids', 'cwe_ids', 'exploitable_locations', 'reference_urls']);
/** The most locations that a timeline tells of one side of a change. */
const MAX_TOLD = 20;

export interface HeldFinding extends SightedColumns {
  id: number;
  assessment_id: number;
  status_id: number;
  status_set_at: number;
  closed_at: number | null;
}

export const holdFindings = prepareWrite<{ ids: readonly number[] }, HeldFinding>((tx, p) =>
  tx
    .selectFrom('vulnerabilities')
    .select(['id', 'assessment_id', 'status_id', 'status_set_at', 'closed_at', ...COLUMNS])
    .where((eb) => isOneOf(tx, eb.ref('id'), p.ids))
    .orderBy('id')
    .modifyEnd(holdingRows(tx))
    .$castTo<HeldFinding>(),
);

/**
 * Overwrites what the scanner says otherwise now, but for what a person changed, and tells the timeline of both.
 * @param befores what it was is noted in
 */
export async function tellChanges(
  tx: Transaction,
  job: FindingsJob,
  changed: readonly Again[],
  back: readonly Again[],
  befores: FindingsBefore,
  sums: TallySums,
  now: number,
): Promise<void> {
  const entries = new Map<number, TimelineEntry>();
  const entryOf = (id: number, told: Pick<TimelineEntry, 'before' | 'after'>): void =>
    void entries.set(id, {
      organizationId: job.organizationId,
      vulnerabilityId: id,
      kind: 'seen',
      ...told,
    });
  for (const { finding } of back) entryOf(finding.id, { after: { import_id: job.id } });
  const ids = changed.map(({ finding }) => finding.id);
  const rows = new Map((ids.length === 0 ? [] : await holdFindings(tx, { ids })).map((row) => [row.id, row]));
  const edited = await editedFields(tx, ids);
  const updates: (readonly (string | number | null)[])[] = [];
  for (const { sighting, finding } of changed) {
    const row = rows.get(finding.id);
    if (row === undefined) continue;
    befores.note(finding.id, { content: finding.content });
    const columns = sighting.columns();
    const differing = COLUMNS.filter((column) => row[column] !== columns[column]);
    const told = differing.filter((column) => column !== 'http_requests');
    if (told.length > 0)
      entryOf(finding.id, {
        before: toldOf(row, told),
        after: { ...toldOf(columns, told), import_id: job.id },
      });
    const kept = edited.get(finding.id);
    const written = differing.filter((column) => kept?.has(FIELDS[column]) !== true);
    if (written.length === 0) continue;
    const values: SightedColumns = {
      ...row,
      ...Object.fromEntries(written.map((column) => [column, columns[column]])),
    };
    // The score follows from the vector: both are a person's or the scanner's.
    if (kept?.has('cvss_score') === true || kept?.has('cvss_vector') === true)
      Object.assign(values, { cvss_score: row.cvss_score, cvss_vector: row.cvss_vector });
    const overwritten = written.filter((column) => values[column] !== row[column]);
    befores.note(finding.id, {
      columns: Object.fromEntries(overwritten.map((column) => [column, row[column]])),
    });
    updates.push([finding.id, ...COLUMNS.map((column) => values[column]), ...keysOf(values)]);
    sums.add(tallyDifferences(countedOf(job, row), countedOf(job, { ...row, severity: values.severity })));
  }
  await overwrite(tx, updates, now);
  await recordTimelines(tx, unnamed(job, now), [...entries.values()]);
}

/** @returns what a timeline tells of some columns, as the API calls them */
export function toldOf(columns: SightedColumns, names: readonly Column[]): Record<string, unknown> {
  const told: Record<string, unknown> = {};
  for (const name of names) {
    const value = columns[name];
    if (FIELDS[name] === 'category')
      told['category'] = { parent: columns.category_parent, display: columns.category_display };
    else if (LISTS.has(name)) told[name] = (JSON.parse(String(value)) as unknown[]).slice(0, MAX_TOLD);
    else told[name] = value;
  }
  return told;
}

/** @returns by vulnerability, the fields that people changed, as timelines call them */
export async function editedFields(
  tx: Transaction,
  ids: readonly number[],
): Promise<Map<number, Set<string>>> {
  const edited = new Map<number, Set<string>>();
  if (ids.length === 0) return edited;
  const rows = await tx
    .selectFrom('timeline_entries')
    .select(['vulnerability_id', 'after'])
    .where('kind', '=', 'edited')
    .where((eb) => isOneOf(tx, eb.ref('vulnerability_id'), ids))
    .execute();
  for (const { vulnerability_id: id, after } of rows) {
    const fields = edited.get(id) ?? new Set();
    edited.set(id, fields);
    for (const name of Object.keys(JSON.parse(after ?? '{}') as object)) fields.add(name);
  }
  return edited;
}

/** @param rows the id, the columns in their order, and what is searched by */
export async function overwrite(
  tx: Transaction,
  rows: readonly (readonly (string | number | null)[])[],
  now: number,
): Promise<void> {
  if (rows.length === 0) return;
  const values = COLUMNS.map((column, index) => {
    const value = text(index + 1);
    const typed =
      column === 'cvss_score' ? real(index + 1) : column === 'location_count' ? int(index + 1) : value;
    return sql`${sql.ref(column)} = ${typed}`;
  });
  await sql`update vulnerabilities set ${sql.join(values)}, title_key = ${text(COLUMNS.length + 1)},
      description_key = ${text(COLUMNS.length + 2)}, updated_at = ${now}, version = version + 1
    from ${eachList(tx, rows)} where vulnerabilities.id = ${int(0)}`.execute(tx);
}
