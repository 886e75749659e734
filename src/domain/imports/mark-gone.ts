import { type SqlBool, sql } from 'kysely';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { forNoKeyUpdate, inList } from '../../db/dialect-sql.ts';
import { insertDeltas, DeltaAccumulator } from '../shared/counters.ts';
import { FIXED } from '../vulnerabilities/statuses-and-severities.ts';
import { recordTimelineEntries } from '../vulnerabilities/timeline.ts';
import { SnapshotRecorder } from './finding-snapshots.ts';
import type { ReportCoverage } from './coverage.ts';
import type { FindingsJob } from './import-types.ts';
import { systemAttribution } from './import-status-changes.ts';
import { coversPorts, loadPortSets } from './port-sets.ts';
import { changeFindingStatuses } from './set-statuses.ts';

/** A finding of what is covered that the report may no longer have. */
export interface GoneCandidate {
  /** Of the vulnerability. */
  id: number;
  identity: string;
  /** Whether this import said so before, in a run that broke off. */
  isGone: boolean;
}

/** Findings, or targets, that are looked at together. */
const PAGE_SIZE = 500;

/**
 * Finds what earlier reports said of what this one covers, and what it did not move, some at a time; what is done to those
 * that were told changes nothing of the others.
 * @param reportAt milliseconds since 1970: what was seen then or later stays
 */
export async function* findGoneCandidates(
  db: ReadConnection,
  job: FindingsJob,
  covered: ReportCoverage,
  reportAt: number,
): AsyncGenerator<GoneCandidate[], void> {
  const keys = [
    ...new Set([...covered.keys.map(({ key }) => key), ...(await coveredSites(db, job, covered))]),
  ];
  for (let start = 0; start < keys.length; start += PAGE_SIZE)
    yield* goneCandidatesOf(db, job, covered, reportAt, keys.slice(start, start + PAGE_SIZE));
}

/** @returns the sites of the hosts that are covered with theirs */
async function coveredSites(
  db: ReadConnection,
  job: FindingsJob,
  { keys: covers, withSites }: ReportCoverage,
): Promise<string[]> {
  const hosts = covers.flatMap(({ key, host }) => (host !== null && key.startsWith('host:') ? [host] : []));
  if (!withSites || hosts.length === 0) return [];
  // It looks at all of the assessment, once: an index would cost each finding of each import more.
  const rows = await db
    .selectFrom('scanner_findings')
    .select('cover_key')
    .distinct()
    .where('assessment_id', '=', job.assessment.id)
    .where('cover_key', 'is not', null)
    .where((eb) => inList(db, eb.ref('cover_host'), hosts))
    .execute();
  return rows.flatMap(({ cover_key }) => cover_key ?? []);
}

async function* goneCandidatesOf(
  db: ReadConnection,
  job: FindingsJob,
  covered: ReportCoverage,
  reportAt: number,
  keys: readonly string[],
): AsyncGenerator<GoneCandidate[], void> {
  for (let after: number | null = 0; after !== null;) {
    const { candidates, next }: GoneCandidatePage = await goneCandidatesAfter(
      db,
      job,
      covered,
      reportAt,
      keys,
      after,
    );
    if (next !== null && keys.length > 1) {
      // Of several keys each page would look at all that is left; of one the index has them in their order.
      const half = keys.length >> 1;
      yield* goneCandidatesOf(db, job, covered, reportAt, keys.slice(0, half));
      yield* goneCandidatesOf(db, job, covered, reportAt, keys.slice(half));
      return;
    }
    yield candidates;
    after = next;
  }
}

/** Candidates of a page, and the id behind which the next are; `null` at the end. */
interface GoneCandidatePage {
  candidates: GoneCandidate[];
  next: number | null;
}

async function goneCandidatesAfter(
  db: ReadConnection,
  job: FindingsJob,
  { source, ports, withSites }: ReportCoverage,
  reportAt: number,
  keys: readonly string[],
  after: number,
): Promise<GoneCandidatePage> {
  const [first = ''] = keys;
  const isDone = sql<SqlBool>`(gone_import_id = ${job.id} or exists (select 1 from import_statuses as status
    where status.import_id = ${job.id} and status.vulnerability_id = scanner_findings.vulnerability_id
      and status.after = ${FIXED}))`;
  const rows = await db
    .selectFrom('scanner_findings')
    .select(['vulnerability_id as id', 'identity', 'cover_ports', isDone.as('is_done')])
    .where('assessment_id', '=', job.assessment.id)
    .where('source', '=', source)
    .where((eb) =>
      eb.or([eb('gone_at', 'is', null), isDone, ...(job.options.whenGone === 'fix' ? [isStillOpen] : [])]),
    )
    .where('cover_key', 'is not', null)
    .where((eb) => (keys.length === 1 ? eb('cover_key', '=', first) : inList(db, eb.ref('cover_key'), keys)))
    .where('last_seen_at', '<', reportAt)
    .where('last_import_id', '<>', job.id)
    .where('vulnerability_id', '>', after)
    .orderBy('vulnerability_id')
    .limit(PAGE_SIZE)
    .execute();
  const texts = await loadPortSets(
    db,
    job.organizationId,
    rows.map((row) => row.cover_ports),
  );
  return {
    candidates: rows
      .filter((row) => withSites || coversPorts(ports, texts.get(row.cover_ports) ?? row.cover_ports))
      .map(({ id, identity, is_done }) => ({ id, identity, isGone: Boolean(is_done) })),
    next: rows.length < PAGE_SIZE ? null : (rows.at(-1)?.id ?? null),
  };
}

/** What an earlier report no longer had, that was kept then, and that nobody has opened again since it was fixed. */
const isStillOpen = sql<SqlBool>`exists (select 1 from vulnerabilities
    where vulnerabilities.id = scanner_findings.vulnerability_id and vulnerabilities.status_id < ${FIXED})
  and not exists (select 1 from import_statuses as status
    where status.vulnerability_id = scanner_findings.vulnerability_id and status.after = ${FIXED}
      and status.import_id >= scanner_findings.gone_import_id)`;

/**
 * Says of findings that a whole report no longer has them, and sets them to Fixed where that is wanted, unless they are
 * closed already; also those of which an earlier report said so, when they were kept: they are gone by this one then.
 * @param reportAt its time, in milliseconds since 1970
 * @returns how many were not gone before, or are fixed only now
 */
export async function markGone(
  tx: Transaction,
  job: FindingsJob,
  ids: readonly number[],
  reportAt: number,
  now: number,
): Promise<number> {
  const marked = await tx
    .updateTable('scanner_findings')
    .set({ gone_at: reportAt, gone_import_id: job.id })
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .where('gone_at', 'is', null)
    .where('last_seen_at', '<', reportAt)
    .returning('vulnerability_id as id')
    .execute();
  const gone = marked.map(({ id }) => id).sort((one, other) => one - other);
  await recordTimelineEntries(
    tx,
    systemAttribution(job, now),
    gone.map((id) => ({
      organizationId: job.organizationId,
      vulnerabilityId: id,
      kind: 'gone',
      after: { import_id: job.id },
    })),
  );
  if (job.options.whenGone !== 'fix') return gone.length;
  const open = await tx
    .selectFrom('vulnerabilities')
    .innerJoin('scanner_findings', 'scanner_findings.vulnerability_id', 'vulnerabilities.id')
    .select([
      'id',
      'vulnerabilities.assessment_id',
      'status_id',
      'status_set_at',
      'closed_at',
      'severity',
      'gone_at',
      'gone_import_id',
    ])
    .where((eb) => inList(tx, eb.ref('id'), ids))
    .where('status_id', '<', FIXED)
    // Another report may have seen it since it was looked for.
    .where('gone_at', 'is not', null)
    .orderBy('id')
    .modifyEnd(forNoKeyUpdate(tx, 'vulnerabilities'))
    .execute();
  const left = open.filter((row) => row.gone_import_id !== job.id);
  if (left.length > 0) await takeOverGone(tx, job, left, reportAt, now);
  const sums = new DeltaAccumulator();
  await changeFindingStatuses(tx, job, open, { status: FIXED, closedAt: reportAt }, sums, now);
  await insertDeltas(tx, sums.rows());
  return new Set([...gone, ...open.map(({ id }) => id)]).size;
}

/** Has what an earlier report left open be gone by this one, for as long as that is not undone. */
async function takeOverGone(
  tx: Transaction,
  job: FindingsJob,
  rows: readonly { id: number; gone_at: number | null; gone_import_id: number | null }[],
  reportAt: number,
  now: number,
): Promise<void> {
  const befores = new SnapshotRecorder();
  for (const row of rows) befores.add(row.id, { gone: [row.gone_at as number, row.gone_import_id] });
  await befores.save(tx, job, now);
  const ids = rows.map(({ id }) => id);
  await tx
    .updateTable('scanner_findings')
    .set({ gone_at: reportAt, gone_import_id: job.id })
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .execute();
}

/** @returns the titles and the assets of findings, for a preview */
export async function previewFindings(
  db: ReadConnection,
  ids: readonly number[],
): Promise<{ title: string; asset?: string }[]> {
  const rows = await db
    .selectFrom('vulnerabilities')
    .leftJoin('vulnerability_assets', 'vulnerability_assets.vulnerability_id', 'vulnerabilities.id')
    .leftJoin('assets', 'assets.id', 'vulnerability_assets.asset_id')
    .select([
      'vulnerabilities.id',
      'vulnerabilities.title',
      sql<string | null>`min(assets.location)`.as('asset'),
    ])
    .where((eb) => inList(db, eb.ref('vulnerabilities.id'), ids))
    .groupBy(['vulnerabilities.id', 'vulnerabilities.title'])
    .orderBy('vulnerabilities.id')
    .execute();
  return rows.map(({ title, asset }) => (asset === null ? { title } : { title, asset }));
}
