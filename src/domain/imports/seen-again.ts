import { sql } from 'kysely';
import type { Transaction } from '../../db/engine.ts';
import { eachList, holdingRows, isOneOf } from '../../db/portable.ts';
import { prepareWrite } from '../../db/prepared.ts';
import type { TallySums } from '../shared/tallies.ts';
import { recordTimelines, type TimelineEntry } from '../vulnerabilities/timeline.ts';
import { tallyDifferences } from '../vulnerabilities/vulnerability-tallies.ts';
import type { FindingsJob } from './import-job.ts';
import { insertStatuses, statusEntry, unnamed } from './import-marks.ts';
import { linkedAssets } from './linked-things.ts';
import { keysOf } from './new-findings.ts';
import type { Sighting, SightedColumns } from './sighting.ts';

/** A finding that the assessment has, as far as a sighting needs it. */
export interface KnownFinding {
  /** Of the vulnerability. */
  id: number;
  identity: string;
  content: string;
  first_seen_at: number;
  last_seen_at: number;
  last_import_id: number;
  gone_at: number | null;
  /** Which import made it. */
  import_id: number | null;
  status_id: number;
  closed_at: number | null;
}

/** A sighting of a finding that is known. */
export interface Again {
  sighting: Sighting;
  finding: KnownFinding;
}

export const FIXED = 5;
const REOPENED = 2;

/**
 * Brings findings that are known up to a sighting that is later than the last, and leaves those that are not.
 * @param sums what is counted
 * @returns the ids of those that this import reopened, also when it was applied before
 */
export async function seeAgain(
  tx: Transaction,
  job: FindingsJob,
  seen: readonly Again[],
  sums: TallySums,
  now: number,
): Promise<ReadonlySet<number>> {
  const later = seen.filter(({ sighting, finding }) => sighting.seenAt > finding.last_seen_at);
  await moveBack(
    tx,
    seen.filter(({ sighting, finding }) => sighting.firstSeenAt < finding.first_seen_at),
  );
  await moveOn(tx, job, later);
  const back = later.filter(({ sighting, finding }) => sighting.seenAt > (finding.gone_at ?? Infinity));
  const changed = later.filter(({ sighting, finding }) => sighting.content !== finding.content);
  const reopened = later.filter(
    ({ sighting, finding }) =>
      finding.status_id === FIXED && sighting.seenAt > (finding.closed_at ?? Infinity),
  );
  await tellChanges(tx, job, changed, back, sums, now);
  const ids = await reopen(tx, job, reopened, sums, now);
  // What this import has seen before, in a run that broke off.
  const before = seen.flatMap(({ finding }) => (finding.last_import_id === job.id ? [finding.id] : []));
  if (before.length === 0) return ids;
  const rows = await tx
    .selectFrom('import_statuses')
    .select('vulnerability_id')
    .where('import_id', '=', job.id)
    .where('after', '=', REOPENED)
    .where((eb) => isOneOf(tx, eb.ref('vulnerability_id'), before))
    .execute();
  return new Set([...ids, ...rows.map(({ vulnerability_id: id }) => id)]);
}

const int = (index: number) => sql<number>`cast(item.value ->> ${sql.lit(index)} as bigint)`;
const real = (index: number) => sql<number>`cast(item.value ->> ${sql.lit(index)} as double precision)`;
const text = (index: number) => sql<string>`item.value ->> ${sql.lit(index)}`;

async function moveBack(tx: Transaction, seen: readonly Again[]): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.map(({ sighting, finding }) => [finding.id, sighting.firstSeenAt]);
  await sql`update scanner_findings set first_seen_at = ${int(1)}
    from ${eachList(tx, rows)} where vulnerability_id = ${int(0)}`.execute(tx);
}

/** The one thing that is written of a finding in which nothing changed. */
async function moveOn(tx: Transaction, job: FindingsJob, seen: readonly Again[]): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.map(({ sighting, finding }) => [finding.id, sighting.seenAt, sighting.content]);
  await sql`update scanner_findings set last_seen_at = ${int(1)}, last_import_id = ${job.id}, content = ${text(2)},
      prior_seen_at = last_seen_at, prior_import_id = last_import_id,
      gone_at = case when gone_at < ${int(1)} then null else gone_at end,
      gone_import_id = case when gone_at < ${int(1)} then null else gone_import_id end
    from ${eachList(tx, rows)} where vulnerability_id = ${int(0)}`.execute(tx);
}

/** Columns that a scanner fills, and how the API and timelines call them; lists are JSON. */
const FIELDS = {
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

type Column = keyof SightedColumns;
const COLUMNS = Object.keys(FIELDS) as Column[];
const LISTS: ReadonlySet<Column> = new Set(['cve_ids', 'cwe_ids', 'exploitable_locations', 'reference_urls']);
/** The most locations that a timeline tells of one side of a change. */
const MAX_TOLD = 20;

interface HeldFinding extends SightedColumns {
  id: number;
  assessment_id: number;
  status_id: number;
  status_set_at: number;
  closed_at: number | null;
}

const holdFindings = prepareWrite<{ ids: readonly number[] }, HeldFinding>((tx, p) =>
  tx
    .selectFrom('vulnerabilities')
    .select(['id', 'assessment_id', 'status_id', 'status_set_at', 'closed_at', ...COLUMNS])
    .where((eb) => isOneOf(tx, eb.ref('id'), p.ids))
    .orderBy('id')
    .modifyEnd(holdingRows(tx))
    .$castTo<HeldFinding>(),
);

/** Overwrites what the scanner says otherwise now, but for what a person changed, and tells the timeline of both. */
async function tellChanges(
  tx: Transaction,
  job: FindingsJob,
  changed: readonly Again[],
  back: readonly Again[],
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
    const differing = COLUMNS.filter((column) => row[column] !== sighting.finding[column]);
    const told = differing.filter((column) => column !== 'http_requests');
    if (told.length > 0)
      entryOf(finding.id, {
        before: toldOf(row, told),
        after: { ...toldOf(sighting.finding, told), import_id: job.id },
      });
    const kept = edited.get(finding.id);
    const written = differing.filter((column) => kept?.has(FIELDS[column]) !== true);
    if (written.length === 0) continue;
    const values: SightedColumns = {
      ...row,
      ...Object.fromEntries(written.map((column) => [column, sighting.finding[column]])),
    };
    // The score follows from the vector: both are a person's or the scanner's.
    if (kept?.has('cvss_score') === true || kept?.has('cvss_vector') === true)
      Object.assign(values, { cvss_score: row.cvss_score, cvss_vector: row.cvss_vector });
    updates.push([finding.id, ...COLUMNS.map((column) => values[column]), ...keysOf(values)]);
    sums.add(tallyDifferences(countedOf(job, row), countedOf(job, { ...row, severity: values.severity })));
  }
  await overwrite(tx, updates, now);
  await recordTimelines(tx, unnamed(job, now), [...entries.values()]);
}

const countedOf = (
  { organizationId }: FindingsJob,
  row: { assessment_id: number; status_id: number; severity: string },
  assets: readonly number[] = [],
) => ({
  organizationId,
  assessmentId: row.assessment_id,
  statusId: row.status_id,
  severity: row.severity,
  tags: [],
  assets,
});

/** @returns what a timeline tells of some columns, as the API calls them */
function toldOf(columns: SightedColumns, names: readonly Column[]): Record<string, unknown> {
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
async function editedFields(tx: Transaction, ids: readonly number[]): Promise<Map<number, Set<string>>> {
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
async function overwrite(
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

/** @returns the ids of those that are open again */
async function reopen(
  tx: Transaction,
  job: FindingsJob,
  seen: readonly Again[],
  sums: TallySums,
  now: number,
): Promise<Set<number>> {
  if (seen.length === 0) return new Set();
  const seenAt = new Map(seen.map(({ sighting, finding }) => [finding.id, sighting.seenAt]));
  const held = await holdFindings(tx, { ids: [...seenAt.keys()] });
  // Somebody may have been faster: what they decided stays.
  const rows = held.filter(
    ({ id, status_id, closed_at }) => status_id === FIXED && (seenAt.get(id) ?? 0) > (closed_at ?? Infinity),
  );
  await setStatuses(tx, job, rows, { status: REOPENED, closedAt: null }, sums, now);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Sets the status of findings that are held, with counts, timelines and what an undo needs.
 * @param to `closedAt` in milliseconds since 1970; `null` for what is open
 */
export async function setStatuses(
  tx: Transaction,
  job: FindingsJob,
  rows: readonly {
    id: number;
    assessment_id: number;
    status_id: number;
    status_set_at: number;
    closed_at: number | null;
    severity: string;
  }[],
  to: { status: number; closedAt: number | null },
  sums: TallySums,
  now: number,
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await tx
    .updateTable('vulnerabilities')
    .set((eb) => ({
      status_id: to.status,
      status_set_at: now,
      closed_at: to.closedAt,
      updated_at: now,
      version: eb('version', '+', eb.lit(1)),
    }))
    .where((eb) => isOneOf(tx, eb.ref('id'), ids))
    .execute();
  const assets = await linkedAssets(tx, ids);
  for (const row of rows) {
    const linked = assets.get(row.id) ?? [];
    sums.add(
      tallyDifferences(countedOf(job, row, linked), countedOf(job, { ...row, status_id: to.status }, linked)),
    );
  }
  await recordTimelines(
    tx,
    unnamed(job, now),
    rows.map(({ id, status_id: before }) =>
      statusEntry({ organizationId: job.organizationId, vulnerabilityId: id }, job, before, to.status),
    ),
  );
  await insertStatuses(
    tx,
    job,
    now,
    rows.map(({ id, status_id: before, status_set_at: statusSetAt, closed_at: closedAt }) => ({
      id,
      before,
      after: to.status,
      statusSetAt,
      closedAt,
    })),
  );
}
