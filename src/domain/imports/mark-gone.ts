import { sql, type SqlBool } from 'kysely';
import { forNoKeyUpdate, inList } from '../../db/dialect-sql.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { coverageKeyOfChecks, type ReportCoverage, splitCoverageKey } from './coverage.ts';
import { SnapshotRecorder } from './finding-snapshots.ts';
import { changeFindingStatuses, systemAttribution } from './import-status-changes.ts';
import type { FindingsJob } from './import-types.ts';
import { coversPorts, loadPortSets } from './port-sets.ts';
import { DeltaAccumulator, insertDeltas } from '../shared/counters.ts';
import { STATUS } from '../shared/statuses-and-severities.ts';
import { recordTimelineEntries } from '../vulnerabilities/timeline.ts';

/** A finding that the report covers and may no longer contain. */
export interface GoneCandidate {
  /** Id of the vulnerability. */
  id: number;
  identity: string;
  /** Whether an interrupted run of this import has already marked it. */
  isGone: boolean;
}

/** Findings, or coverage keys, per query. */
const PAGE_SIZE = 500;

/**
 * Finds the findings that this report covers and that it has not updated, page by page. The caller may change the
 * findings of a page before it reads the next.
 * @param reportAt milliseconds since 1970; findings seen then or later are not candidates
 */
export async function* findGoneCandidates(
  db: ReadConnection,
  job: FindingsJob,
  covered: ReportCoverage,
  reportAt: number,
): AsyncGenerator<GoneCandidate[], void> {
  const keys =
    covered.checks === undefined && !covered.withSites
      ? [...new Set(covered.keys.map(({ key }) => key))]
      : await storedKeys(db, job, covered);
  for (let start = 0; start < keys.length; start += PAGE_SIZE)
    yield* goneCandidatesOf(db, job, covered, reportAt, keys.slice(start, start + PAGE_SIZE));
}

/** @returns the keys of findings that the coverage includes: of its groups of checks, and of sites on covered hosts */
async function storedKeys(
  db: ReadConnection,
  job: FindingsJob,
  { source, keys: covers, checks, withSites }: ReportCoverage,
): Promise<string[]> {
  const targets = new Set(covers.map(({ key }) => key));
  const hosts = covers.flatMap(({ host }) => host ?? []);
  const complete = new Set(
    covers.flatMap(({ key, host }) => (host !== null && key.startsWith('host:') ? host : [])),
  );
  const named =
    checks === 'all' ? undefined : new Set((checks ?? ['']).map((one) => coverageKeyOfChecks(one, '')));
  // Scans the assessment once. An index would cost more: every import would maintain it for every finding.
  const rows = await db
    .selectFrom('scanner_findings')
    .select(['cover_key', 'cover_host'])
    .distinct()
    .where('assessment_id', '=', job.assessment.id)
    .where('source', '=', source)
    .where('cover_key', 'is not', null)
    .where((eb) =>
      hosts.length === covers.length
        ? inList(db, eb.ref('cover_host'), hosts)
        : eb.or([eb('cover_host', 'is', null), inList(db, eb.ref('cover_host'), hosts)]),
    )
    .execute();
  return rows.flatMap(({ cover_key: key, cover_host: host }) => {
    const [group, target] = splitCoverageKey(key ?? '');
    const isTarget = targets.has(target) || (withSites && host !== null && complete.has(host));
    return key !== null && isTarget && named?.has(group) !== false ? [key] : [];
  });
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
      // With several keys every page would rescan the rest; with one key the index returns them in order.
      const half = keys.length >> 1;
      yield* goneCandidatesOf(db, job, covered, reportAt, keys.slice(0, half));
      yield* goneCandidatesOf(db, job, covered, reportAt, keys.slice(half));
      return;
    }
    yield candidates;
    after = next;
  }
}

/** `next` is the id to continue after; `null` at the end. */
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
  const isDone = sql<SqlBool>`(gone_import_id = ${job.id} or exists (select 1 from import_status_changes as status
    where status.import_id = ${job.id} and status.vulnerability_id = scanner_findings.vulnerability_id
      and status.after = ${STATUS.fixed}))`;
  const rows = await db
    .selectFrom('scanner_findings')
    .select(['vulnerability_id as id', 'identity_hash as identity', 'cover_ports', isDone.as('is_done')])
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

/** A finding that an earlier report marked as gone but left open, unless it was reopened after it was fixed. */
const isStillOpen = sql<SqlBool>`exists (select 1 from vulnerabilities
    where vulnerabilities.id = scanner_findings.vulnerability_id and vulnerabilities.closed_at is null)
  and not exists (select 1 from import_status_changes as status
    where status.vulnerability_id = scanner_findings.vulnerability_id and status.after = ${STATUS.fixed}
      and status.import_id >= scanner_findings.gone_import_id)`;

/**
 * Marks findings as gone and, with `whenGone: 'fix'`, sets open ones to Fixed. Findings that an earlier report marked
 * as gone but left open are taken over by this import.
 * @param reportAt the report's time, in milliseconds since 1970
 * @returns how many findings became gone or Fixed
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
      importId: job.id,
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
    .where('closed_at', 'is', null)
    // Another report may have seen it in the meantime.
    .where('gone_at', 'is not', null)
    .orderBy('id')
    .modifyEnd(forNoKeyUpdate(tx, 'vulnerabilities'))
    .execute();
  const leftOpen = open.filter((row) => row.gone_import_id !== job.id);
  if (leftOpen.length > 0) await takeOverGone(tx, job, leftOpen, reportAt, now);
  const sums = new DeltaAccumulator();
  await changeFindingStatuses(tx, job, open, { status: STATUS.fixed, closedAt: reportAt }, sums, now);
  await insertDeltas(tx, sums.rows());
  return new Set([...gone, ...open.map(({ id }) => id)]).size;
}

/** Attributes findings that an earlier report left open to this import, until it is undone. */
async function takeOverGone(
  tx: Transaction,
  job: FindingsJob,
  rows: readonly { id: number; gone_at: number | null; gone_import_id: number | null }[],
  reportAt: number,
  now: number,
): Promise<void> {
  const snapshots = new SnapshotRecorder();
  for (const row of rows) snapshots.add(row.id, { gone: [row.gone_at as number, row.gone_import_id] });
  await snapshots.save(tx, job, now);
  const ids = rows.map(({ id }) => id);
  await tx
    .updateTable('scanner_findings')
    .set({ gone_at: reportAt, gone_import_id: job.id })
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .execute();
}

/** @returns titles and assets, for the preview of a dry run */
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
