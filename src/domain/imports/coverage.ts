import { sql } from 'kysely';
import type { Transaction } from '../../db/engine.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { FindingsJob } from './import-types.ts';
import { coversPorts, storePortSets, portSetKey, loadPortSets } from './port-sets.ts';
import type { CoverageKey } from './sighting.ts';

/**
 * The groups of checks that a coverage includes: named ones, or all. If `undefined`, the keys contain the group.
 */
export type CoveredChecks = readonly string[] | 'all' | undefined;

/** What a report covers, for one source. */
export interface ReportCoverage {
  source: string;
  keys: readonly CoverageKey[];
  checks: CoveredChecks;
  /** Ports scanned on the hosts, as `formatPorts` writes them; empty for all. */
  ports: string;
  /** Whether covered hosts include their web sites. */
  withSites: boolean;
}

/** A finding that a report may have covered. */
export interface CoverableFinding<Id> {
  id: Id;
  source: string;
  coverage: CoverageKey | null;
  /** Milliseconds since 1970. */
  seenAt: number;
}

/** A complete report that covered a finding. */
export interface CoveringReport {
  importId: number;
  /** The report's time, in milliseconds since 1970. */
  coveredAt: number;
}

/**
 * Finds the newer reports that covered findings without containing them.
 * @param importId the import whose own coverage is ignored
 * @returns the newest such report by finding
 */
export async function findNewerCoverage<Id>(
  tx: Transaction,
  { organizationId, assessment }: Pick<FindingsJob, 'organizationId'> & { assessment: { id: number } },
  importId: number,
  findings: readonly CoverableFinding<Id>[],
): Promise<ReadonlyMap<Id, CoveringReport>> {
  const keys = new Set<string>();
  for (const { coverage: cover } of findings) for (const key of coveringKeysOf(cover)) keys.add(key);
  const covering = new Map<Id, CoveringReport>();
  if (keys.size === 0) return covering;
  const rows = await tx
    .selectFrom('import_coverage')
    .select(['source', 'cover_key', 'ports', 'covered_at as coveredAt', 'import_id as importId'])
    .where('assessment_id', '=', assessment.id)
    .where((eb) => inList(tx, eb.ref('cover_key'), [...keys]))
    .where('import_id', '<>', importId)
    .execute();
  if (rows.length === 0) return covering;
  const texts = await loadPortSets(
    tx,
    organizationId,
    rows.map((row) => row.ports),
  );
  const coverage = new Map<string, typeof rows>();
  for (const row of rows) {
    const key = `${row.source} ${row.cover_key}`;
    coverage.set(key, [...(coverage.get(key) ?? []), row]);
  }
  for (const { id, source, coverage: cover, seenAt } of findings) {
    for (const key of coveringKeysOf(cover)) {
      for (const { ports, coveredAt, importId: by } of coverage.get(`${source} ${key}`) ?? []) {
        if (coveredAt <= Math.max(seenAt, covering.get(id)?.coveredAt ?? 0)) continue;
        if (coversPorts(texts.get(ports) ?? ports, cover?.ports ?? ''))
          covering.set(id, { importId: by, coveredAt });
      }
    }
  }
  return covering;
}

/** Stands for all groups of checks. */
export const ALL_CHECKS = '*';
const PREFIX = /^([^|:]*)\|/;

/** @param checks the group, or `''` for none */
export function coverageKeyOfChecks(checks: string, key: string): string {
  return checks === '' ? key : `${encodeURIComponent(checks.toWellFormed())}|${key}`;
}

/** @returns the encoded group of checks, with its bar, and the rest of a key */
export function splitCoverageKey(key: string): [checks: string, target: string] {
  const [checks = ''] = PREFIX.exec(key) ?? [];
  return [checks, key.slice(checks.length)];
}

/** A host that was given as a target also covers its web sites; it is stored under a key of its own. */
function coveringKeysOf(cover: CoverageKey | null): string[] {
  if (cover === null) return [];
  const [checks, target] = splitCoverageKey(cover.key);
  const targets = cover.host === null ? [target] : [target, hostWithSitesKey(cover.host)];
  return targets.flatMap((one) => [`${checks}${one}`, `${ALL_CHECKS}|${one}`]);
}

const hostWithSitesKey = (host: string): string => `target:${host}`;

/** Picks a column of the first row if the new coverage is newer than the stored one, else of the other. */
const whicheverIsNewer = (column: string, first: string, other: string) =>
  `case when excluded.covered_at > import_coverage.covered_at then ${first}.${column} else ${other}.${column} end`;

const insertCoverage = prepareInsert(
  'import_coverage',
  {
    organization_id: 'int',
    assessment_id: 'int',
    source: 'text',
    cover_key: 'text',
    ports: 'text',
    covered_at: 'int',
    import_id: 'int',
  },
  `on conflict (assessment_id, source, cover_key, ports) do update
    set covered_at = ${whicheverIsNewer('covered_at', 'excluded', 'import_coverage')},
      import_id = ${whicheverIsNewer('import_id', 'excluded', 'import_coverage')},
      previous_covered_at = ${whicheverIsNewer('covered_at', 'import_coverage', 'excluded')},
      previous_import_id = ${whicheverIsNewer('import_id', 'import_coverage', 'excluded')}
    where excluded.import_id <> import_coverage.import_id
      and (excluded.covered_at > import_coverage.covered_at or import_coverage.previous_covered_at is null
        or excluded.covered_at > import_coverage.previous_covered_at)`,
);

/** Stores what a complete report covered, so that an older report imported later does not bring findings back. */
export async function recordCoverage(
  tx: Transaction,
  job: FindingsJob,
  { source, keys: covers, ports, withSites, checks }: ReportCoverage,
  reportAt: number,
): Promise<void> {
  await storePortSets(tx, job.organizationId, [ports]);
  const targets = covers.flatMap(({ key, host }) =>
    withSites && host !== null && key.startsWith('host:') ? [key, hostWithSitesKey(host)] : [key],
  );
  const keys = new Set(
    targets.flatMap((target) =>
      checks === 'all'
        ? `${ALL_CHECKS}|${target}`
        : (checks ?? ['']).map((one) => coverageKeyOfChecks(one, target)),
    ),
  );
  await insertCoverage(
    tx,
    [...keys].map((key) => [
      job.organizationId,
      job.assessment.id,
      source,
      key,
      portSetKey(ports),
      reportAt,
      job.id,
    ]),
  );
}

/** Deletes the coverage of an import and restores that of the report before it. */
export async function undoCoverage(
  tx: Transaction,
  { id, assessmentId }: { id: number; assessmentId: number | null },
): Promise<void> {
  if (assessmentId === null) return;
  const own = tx.updateTable('import_coverage').where('assessment_id', '=', assessmentId);
  await own
    .set({ previous_covered_at: null, previous_import_id: null })
    .where('previous_import_id', '=', id)
    .execute();
  await own
    .set({
      covered_at: sql<number>`previous_covered_at`,
      import_id: sql<number>`previous_import_id`,
      previous_covered_at: null,
      previous_import_id: null,
    })
    .where('import_id', '=', id)
    .where('previous_import_id', 'is not', null)
    .execute();
  await tx
    .deleteFrom('import_coverage')
    .where('assessment_id', '=', assessmentId)
    .where('import_id', '=', id)
    .execute();
}
