import { sql, type SqlBool } from 'kysely';
import { inList } from '../../db/dialect-sql.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { DeltaAccumulator, insertDeltas } from '../shared/counters.ts';
import { STATUS } from '../shared/statuses-and-severities.ts';
import { lastDetection, parseLastDetection } from '../vulnerabilities/last-detection.ts';
import type { FindingsJob } from './import-types.ts';
import { coversPorts, loadPortSets } from '../assets/port-sets.ts';
import { reconcileFindings } from './reconcile-findings.ts';
import { scanScopeKeyOfChecks, type ScanScope, splitScanScopeKey } from './scan-scopes.ts';

/** A finding in the scan scope that the report did not detect and may mark as gone. */
export interface StaleFinding {
  /** Id of the vulnerability. */
  id: number;
  identity: string;
  /** Whether an interrupted run of this import has already marked it. */
  isGone: boolean;
  /** Whether it is a draft that the importer does not see: it becomes gone, and is not counted. */
  isHidden: boolean;
}

/** Findings, or scan scope keys, per query. */
const PAGE_SIZE = 500;

/**
 * Finds the findings that this report covers and did not see, page by page. The caller may change the findings of a
 * page before it reads the next.
 * @param reportAt milliseconds since 1970
 */
export async function* findStaleFindings(
  db: ReadConnection,
  job: FindingsJob,
  scanScope: ScanScope,
  reportAt: number,
): AsyncGenerator<StaleFinding[], void> {
  const keys =
    scanScope.checks === undefined && !scanScope.withSites
      ? [...new Set(scanScope.keys.map(({ key }) => key))]
      : await storedKeys(db, job, scanScope);
  for (let start = 0; start < keys.length; start += PAGE_SIZE)
    yield* staleFindingsOf(db, job, scanScope, reportAt, keys.slice(start, start + PAGE_SIZE));
}

/**
 * @returns the keys of findings that the scan scope includes: of its groups of checks, and of sites on covered hosts
 */
async function storedKeys(
  db: ReadConnection,
  job: FindingsJob,
  { source, keys: covers, checks, withSites }: ScanScope,
): Promise<string[]> {
  const targets = new Set(covers.map(({ key }) => key));
  const hosts = covers.flatMap(({ host }) => host ?? []);
  const complete = new Set(
    covers.flatMap(({ key, host }) => (host !== null && key.startsWith('host:') ? host : [])),
  );
  const checkKeys =
    checks === 'all' ? undefined : new Set((checks ?? ['']).map((check) => scanScopeKeyOfChecks(check, '')));
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
    const [group, target] = splitScanScopeKey(key ?? '');
    const isTarget = targets.has(target) || (withSites && host !== null && complete.has(host));
    return key !== null && isTarget && checkKeys?.has(group) !== false ? [key] : [];
  });
}

async function* staleFindingsOf(
  db: ReadConnection,
  job: FindingsJob,
  scanScope: ScanScope,
  reportAt: number,
  keys: readonly string[],
): AsyncGenerator<StaleFinding[], void> {
  for (let after: number | null = 0; after !== null;) {
    const { findings, next }: StaleFindingPage = await staleFindingsAfter(
      db,
      job,
      scanScope,
      reportAt,
      keys,
      after,
    );
    if (next !== null && keys.length > 1) {
      // A query for several keys would rescan the rest for every page; for one key the index returns the rows in order.
      const middle = keys.length >> 1;
      yield* staleFindingsOf(db, job, scanScope, reportAt, keys.slice(0, middle));
      yield* staleFindingsOf(db, job, scanScope, reportAt, keys.slice(middle));
      return;
    }
    yield findings;
    after = next;
  }
}

/** `next` is the id to continue after; `null` at the end. */
interface StaleFindingPage {
  findings: StaleFinding[];
  next: number | null;
}

const isFixedBy = (importId: number) => sql<SqlBool>`exists (select 1 from timeline_entries as entry
  where entry.vulnerability_id = finding.vulnerability_id and entry.kind = 'status' and entry.import_id = ${importId})`;

async function staleFindingsAfter(
  db: ReadConnection,
  job: FindingsJob,
  { source, ports, withSites }: ScanScope,
  reportAt: number,
  keys: readonly string[],
  after: number,
): Promise<StaleFindingPage> {
  const [first = ''] = keys;
  const rows = await db
    .selectFrom('scanner_findings as finding')
    .leftJoin('vulnerabilities', 'vulnerabilities.id', 'finding.vulnerability_id')
    .select([
      'finding.vulnerability_id as id',
      'identity_hash as identity',
      'cover_ports',
      'gone_at',
      'gone_import_id',
      'vulnerabilities.status_id',
      'vulnerabilities.closed_at',
      'vulnerabilities.first_seen_at',
      'vulnerabilities.draft',
      lastDetection.as('last'),
      sql<SqlBool>`case when vulnerabilities.status_id = ${sql.lit(STATUS.fixed)} and gone_at is not null
        then ${isFixedBy(job.id)} end`.as('is_fixed'),
    ])
    .where('finding.assessment_id', '=', job.assessment.id)
    .where('finding.source', '=', source)
    .where('cover_key', 'is not', null)
    .where((eb) => (keys.length === 1 ? eb('cover_key', '=', first) : inList(db, eb.ref('cover_key'), keys)))
    .where(
      sql<SqlBool>`not exists (select 1 from detections
        where detections.vulnerability_id = finding.vulnerability_id and detections.import_id = ${job.id})`,
    )
    .where('finding.vulnerability_id', '>', after)
    .orderBy('finding.vulnerability_id')
    .limit(PAGE_SIZE)
    .execute();
  const texts = await loadPortSets(
    db,
    job.organizationId,
    rows.map((row) => row.cover_ports),
  );
  const isFixing = job.options.whenGone === 'fix';
  const findings = rows.flatMap((row): StaleFinding[] => {
    if (row.status_id === null) return [];
    if (!withSites && !coversPorts(ports, texts.get(row.cover_ports) ?? row.cover_ports)) return [];
    const isGone = row.gone_import_id === job.id || Boolean(row.is_fixed);
    const { seenAt, importId } = parseLastDetection(row.last) ?? { seenAt: -Infinity, importId: 0 };
    const isLast = seenAt < reportAt || (seenAt === reportAt && importId < job.id);
    const becomesGone = isLast && (row.gone_at === null || row.gone_at >= reportAt);
    // A later report may have reopened it, or a person decided then or later, so that it was Fixed in between.
    const becomesFixed = isFixing && (row.closed_at === null || row.closed_at >= reportAt);
    return isGone || becomesGone || becomesFixed
      ? [{ id: row.id, identity: row.identity, isGone, isHidden: row.draft === 1 && !job.caller.staff }]
      : [];
  });
  return { findings, next: rows.length < PAGE_SIZE ? null : (rows.at(-1)?.id ?? null) };
}

/**
 * Marks findings as gone that this report covered without containing them and, with `whenGone: 'fix'`, sets open ones
 * to Fixed, unless a later report saw them or a person decided otherwise.
 * @param reportAt the report's time, in milliseconds since 1970
 * @returns the ids of those that became gone or Fixed, without drafts that the importer does not see
 */
export async function markStale(
  tx: Transaction,
  job: FindingsJob,
  ids: readonly number[],
  reportAt: number,
  now: number,
): Promise<number[]> {
  const { organizationId, assessment, caller: actor, id: importId, options } = job;
  const sums = new DeltaAccumulator();
  const changes = await reconcileFindings(
    tx,
    {
      organizationId,
      assessmentId: assessment.id,
      by: { actor, now },
      importId,
      sums,
      scope: { importId, coveredAt: reportAt, isFixing: options.whenGone === 'fix' },
    },
    ids,
  );
  await insertDeltas(tx, sums.rows());
  return changes.flatMap(({ id, isDraft, before, after }) => {
    if (before === null || after === null || (isDraft && !actor.staff)) return [];
    const isGone = after.goneImportId === importId && before.goneImportId !== importId;
    const isFixed = after.statusId === STATUS.fixed && before.statusId !== STATUS.fixed;
    return isGone || isFixed ? [id] : [];
  });
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
