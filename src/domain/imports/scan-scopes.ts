import { sql } from 'kysely';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Row } from '../../db/schema.ts';
import { groupBy } from '../shared/group-by.ts';
import type { CoveringScope } from './derive-finding.ts';
import type { FindingsJob } from './import-types.ts';
import { coversPorts, storePortSets, portSetKey, loadPortSets } from '../assets/port-sets.ts';
import type { ScanScopeKey } from './finding-detections.ts';

/** The groups of checks that a scan scope includes: named ones, or all. If `undefined`, the keys contain the group. */
export type CoveredChecks = readonly string[] | 'all' | undefined;

/** The targets that a complete report covers, for one source. */
export interface ScanScope {
  source: string;
  keys: readonly ScanScopeKey[];
  checks: CoveredChecks;
  /** Ports scanned on the hosts, as `formatPorts` writes them; empty for all. */
  ports: string;
  /** Whether covered hosts include their web sites. */
  withSites: boolean;
}

/** The scope that must be scanned for a finding to be gone, as stored in its row. */
export type StoredScanScope = Pick<
  Row<'scanner_findings'>,
  'source' | 'cover_key' | 'cover_host' | 'cover_ports'
>;

/** The sources to filter by: with the assessment they begin the key of the table. */
const sourcesOf = (findings: readonly StoredScanScope[]) => [
  ...new Set(findings.map(({ source }) => source)),
];

/** @returns the findings without those that share the scan scope of the previous one, as most findings of a host do */
function distinctScanScopes(findings: readonly StoredScanScope[]): StoredScanScope[] {
  return findings.filter(({ cover_key, cover_host }, index) => {
    const before = findings[index - 1];
    return cover_key !== before?.cover_key || cover_host !== before.cover_host;
  });
}

/**
 * Finds the complete reports that covered some findings, also those that contain them.
 * @returns the scopes of each finding, in the order of the findings; findings with the same scan scope share a list
 */
export async function findCoveringScopes(
  tx: Transaction,
  { organizationId, assessmentId }: { organizationId: number; assessmentId: number },
  findings: readonly StoredScanScope[],
): Promise<(readonly CoveringScope[])[]> {
  const keys = new Set<string>();
  for (const finding of distinctScanScopes(findings))
    for (const key of coveringKeysOf(finding)) keys.add(key);
  if (keys.size === 0) return findings.map(() => []);
  const rows = await tx
    .selectFrom('scan_scopes')
    .select(['source', 'cover_key', 'ports', 'covered_at', 'import_id', 'fixes'])
    .where('assessment_id', '=', assessmentId)
    .where((eb) => inList(tx, eb.ref('source'), sourcesOf(findings)))
    .where((eb) => inList(tx, eb.ref('cover_key'), [...keys]))
    .execute();
  if (rows.length === 0) return findings.map(() => []);
  const portSets = await loadPortSets(tx, organizationId, [
    ...rows.map(({ ports }) => ports),
    ...findings.map((finding) => finding.cover_ports),
  ]);
  const portsOf = (name: string) => portSets.get(name) ?? name;
  const scopes = groupBy(
    rows,
    ({ source, cover_key }) => `${source} ${cover_key}`,
    (row) => row,
  );
  const cache = new Map<string, CoveringScope[]>();
  return findings.map((finding) => {
    const { source, cover_key, cover_host, cover_ports } = finding;
    const shared = JSON.stringify([source, cover_key, cover_host, cover_ports]);
    let coveringScopes = cache.get(shared);
    if (coveringScopes === undefined) {
      coveringScopes = coveringKeysOf(finding)
        .flatMap((key) => scopes.get(`${source} ${key}`) ?? [])
        .filter(({ ports }) => coversPorts(portsOf(ports), portsOf(cover_ports)))
        .map(({ import_id, covered_at, fixes }) => ({
          importId: import_id,
          coveredAt: covered_at,
          isFixing: fixes === 1,
        }));
      cache.set(shared, coveringScopes);
    }
    return coveringScopes;
  });
}

/** The key of all groups of checks. */
export const ALL_CHECKS = '*';
const PREFIX = /^([^|:]*)\|/;

/** @param checks the group, or `''` for none */
export function scanScopeKeyOfChecks(checks: string, key: string): string {
  return checks === '' ? key : `${encodeURIComponent(checks.toWellFormed())}|${key}`;
}

/** @returns the encoded group of checks, with its bar, and the rest of a key */
export function splitScanScopeKey(key: string): [checks: string, target: string] {
  const [checks = ''] = PREFIX.exec(key) ?? [];
  return [checks, key.slice(checks.length)];
}

/** A host that was given as a target also covers its web sites; it is stored under a key of its own. */
function coveringKeysOf({ cover_key, cover_host }: StoredScanScope): string[] {
  if (cover_key === null) return [];
  const [checks, target] = splitScanScopeKey(cover_key);
  const targets = cover_host === null ? [target] : [target, hostWithSitesKey(cover_host)];
  return targets.flatMap((targetKey) => [`${checks}${targetKey}`, `${ALL_CHECKS}|${targetKey}`]);
}

const hostWithSitesKey = (host: string): string => `target:${host}`;

const insertScopes = prepareInsert(
  'scan_scopes',
  {
    organization_id: 'int',
    assessment_id: 'int',
    source: 'text',
    cover_key: 'text',
    ports: 'text',
    covered_at: 'int',
    import_id: 'int',
    fixes: 'int',
  },
  'on conflict do nothing',
);

export async function recordScanScope(
  tx: Transaction,
  job: FindingsJob,
  { source, keys: covers, ports, withSites, checks }: ScanScope,
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
        : (checks ?? ['']).map((check) => scanScopeKeyOfChecks(check, target)),
    ),
  );
  await insertScopes(
    tx,
    [...keys].map((key) => [
      job.organizationId,
      job.assessment.id,
      source,
      key,
      portSetKey(ports),
      reportAt,
      job.id,
      job.options.whenGone === 'fix' ? 1 : 0,
    ]),
  );
}

const insertUntested = prepareInsert(
  'untested_findings',
  { organization_id: 'int', assessment_id: 'int', identity_hash: 'text', import_id: 'int' },
  'on conflict do nothing',
);

/** Stores which findings a report names without having tested them: its scopes do not apply to these. */
export async function recordUntested(
  tx: Transaction,
  { organizationId, assessment, id }: FindingsJob,
  identities: readonly string[],
): Promise<void> {
  await insertUntested(
    tx,
    identities.map((identity) => [organizationId, assessment.id, identity, id]),
  );
}

/** Findings per read. */
const PAGE_SIZE = 5_000;

/** Reads page by page the ids of findings that an import saw or covered. */
export async function* readAffectedFindings(
  db: ReadConnection,
  { id, assessmentId }: { id: number; assessmentId: number },
): AsyncGenerator<number[], void> {
  const { last } = await db
    .selectFrom('scanner_findings')
    .select(({ fn }) => fn.max('vulnerability_id').as('last'))
    .executeTakeFirstOrThrow();
  for (let after = 0; after < (last ?? 0); after += PAGE_SIZE) {
    const rows = await db
      .selectFrom('scanner_findings as finding')
      .select([
        'vulnerability_id as id',
        'source',
        'cover_key',
        'cover_host',
        'cover_ports',
        // The limit keeps PostgreSQL from reading all detections of the import for each page, as it may for `exists`.
        sql<number | null>`(select 1 from detections
          where detections.vulnerability_id = finding.vulnerability_id and import_id = ${id} limit 1)`.as(
          'is_seen',
        ),
      ])
      .where('assessment_id', '=', assessmentId)
      .where('vulnerability_id', '>', after)
      .where('vulnerability_id', '<=', after + PAGE_SIZE)
      .orderBy('vulnerability_id')
      .execute();
    const keys = await findCoveredKeys(
      db,
      { id, assessmentId },
      rows.filter((row) => row.is_seen === null),
    );
    yield rows.flatMap((row) =>
      row.is_seen === 1 || coveringKeysOf(row).some((key) => keys.has(`${row.source} ${key}`))
        ? [row.id]
        : [],
    );
  }
}

/** @returns the sources and keys of findings that an import covered */
async function findCoveredKeys(
  db: ReadConnection,
  { id, assessmentId }: { id: number; assessmentId: number },
  findings: readonly StoredScanScope[],
): Promise<ReadonlySet<string>> {
  const keys = new Set(findings.flatMap(coveringKeysOf));
  if (keys.size === 0) return keys;
  const rows = await db
    .selectFrom('scan_scopes')
    .select(['source', 'cover_key'])
    .distinct()
    .where('assessment_id', '=', assessmentId)
    .where('import_id', '=', id)
    .where((eb) => inList(db, eb.ref('source'), sourcesOf(findings)))
    .where((eb) => inList(db, eb.ref('cover_key'), [...keys]))
    .execute();
  return new Set(rows.map(({ source, cover_key }) => `${source} ${cover_key}`));
}
