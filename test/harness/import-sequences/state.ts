import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { operatorCaller } from '../../../src/auth/callers.ts';
import { readAssessment } from '../../../src/domain/assessments/assessment-list.ts';
import { phaseOf } from '../../../src/domain/shared/statuses-and-severities.ts';
import type { Vulnerability } from '../../../src/domain/vulnerabilities/read-vulnerability.ts';
import { vulnerabilityList } from '../../../src/domain/vulnerabilities/vulnerability-list.ts';
import { summarizeVulnerabilities } from '../../../src/domain/vulnerabilities/vulnerability-summary.ts';
import { readAndRecount } from '../vulnerability-counters.ts';

type Facts = Record<string, unknown>;

/** The content of an organization by the identity of each object, without ids, uids and times of changes. */
export interface OrganizationState {
  findings: Map<string, Facts & { assets: string[] }>;
  assets: Map<string, Facts>;
  listings: Map<string, Facts>;
  ports: Map<string, Facts>;
  /** Counts of operations 37 and 83 that differ from the rows that they count. */
  miscounts: string[];
}

export interface StateOf {
  organization: { id: number; uid: string };
  assessments: readonly { id: number; uid: string }[];
  /** @returns a name of an import that does not depend on its id */
  nameImport: (id: number | null) => string | null;
  now: number;
}

const READER = operatorCaller('a test');
const MOST = 200;

export async function readState(db: Database, of: StateOf): Promise<OrganizationState> {
  const reading = { db: db.read, caller: READER, now: of.now };
  const filters = { organizationUid: [of.organization.uid] };
  const [{ items: vulnerabilities }, identities, assets, listed, ports, summary, assessments] =
    await Promise.all([
      vulnerabilityList.read(reading, { filters, sort: 'resolvedAt', descending: false }, 0, MOST),
      db.read
        .selectFrom('scanner_findings')
        .select(['vulnerability_id', 'identity_hash'])
        .where('organization_id', '=', of.organization.id)
        .execute(),
      db.read.selectFrom('assets').selectAll().where('organization_id', '=', of.organization.id).execute(),
      db.read
        .selectFrom('listing_assets')
        .select(['assessment_id', 'asset_id', 'scope_rules'])
        .where('organization_id', '=', of.organization.id)
        .execute(),
      db.read
        .selectFrom('ports')
        .innerJoin('assets', 'assets.id', 'ports.asset_id')
        .selectAll('ports')
        .where('assets.organization_id', '=', of.organization.id)
        .execute(),
      summarizeVulnerabilities(reading, filters),
      Promise.all(of.assessments.map(({ id }) => readAssessment(db.read, READER, { id }))),
    ]);
  const nameOf = (assessmentId: number) =>
    `assessment ${of.assessments.findIndex(({ id }) => id === assessmentId)}`;
  const locationOf = new Map(
    assets.map(({ id, uid, type, location }) => [uid, { id, key: `${type} ${location}` }]),
  );
  const keyOf = new Map([...locationOf.values()].map(({ id, key }) => [id, key]));
  const identityOf = new Map(identities.map((row) => [row.vulnerability_id, row.identity_hash]));
  const state: OrganizationState = {
    findings: new Map(),
    assets: new Map(),
    listings: new Map(),
    ports: new Map(),
    miscounts: [],
  };
  for (const finding of vulnerabilities) {
    const identity = identityOf.get(finding.id) ?? 'no identity';
    const key = `${nameOf(finding.assessment.id)}, ${finding.source} ${identity}`;
    const linked = finding.assets.map(({ uid }) => locationOf.get(uid)?.key ?? uid).sort();
    if (state.findings.has(key)) state.miscounts.push(`${key} is there twice`);
    state.findings.set(key, factsOf(finding, linked, of.nameImport));
  }
  for (const asset of assets)
    state.assets.set(keyOf.get(asset.id) ?? '', {
      first_seen: dateOf(asset.first_seen),
      last_seen: dateOf(asset.last_seen),
      import: of.nameImport(asset.import_id),
    });
  for (const row of listed)
    state.listings.set(`${keyOf.get(row.asset_id)} in ${nameOf(row.assessment_id)}`, {
      rules: row.scope_rules,
    });
  for (const { asset_id, protocol, number, first_seen, last_seen, ...facts } of ports)
    state.ports.set(`${keyOf.get(asset_id)} ${number}/${protocol}`, {
      ...facts,
      first_seen: dateOf(first_seen),
      last_seen: dateOf(last_seen),
    });
  const check = (name: string, counted: unknown, rows: unknown): void => {
    if (counted !== rows) state.miscounts.push(`${name} is ${counted}, of ${rows} rows`);
  };
  const isOpen = ({ statusId }: Vulnerability) => phaseOf(statusId) !== 'closed';
  for (const [index, view] of assessments.entries()) {
    const inView = vulnerabilities.filter(({ assessment }) => assessment.id === view.id);
    check(`vulnerability_count of assessment ${index}`, view.vulnerabilityCount, inView.length);
    check(
      `open_vulnerability_count of assessment ${index}`,
      view.openVulnerabilityCount,
      inView.filter(isOpen).length,
    );
    const entries = listed.filter((row) => row.assessment_id === view.id);
    check(`asset_count of assessment ${index}`, view.assetCount, entries.length);
  }
  for (const [severity, count] of Object.entries(summary.bySeverity))
    check(
      `by_severity.${severity}`,
      count,
      vulnerabilities.filter((vulnerability) => vulnerability.severity === severity).length,
    );
  for (const [phase, count] of Object.entries(summary.byPhase))
    check(
      `by_phase.${phase}`,
      count,
      vulnerabilities.filter(({ statusId }) => phaseOf(statusId) === phase).length,
    );
  const detected = async (table: RawBuilder<unknown>) =>
    (
      await sql<{
        assessment_id: number;
        asset_id: number;
      }>`select distinct assessment_id, asset_id from ${table}
        where assessment_id is not null and asset_id in (
          select id from assets where organization_id = ${of.organization.id})`.execute(db.read)
    ).rows
      .map((row) => `${keyOf.get(row.asset_id)} in ${nameOf(row.assessment_id)}`)
      .sort()
      .join(', ');
  check(
    'detected_assets',
    await detected(sql`detected_assets`),
    await detected(sql`(select imports.assessment_id, asset_id from asset_detections
      join imports on imports.id = asset_detections.import_id and imports.undone is null) as seen`),
  );
  const { counters, rows } = await readAndRecount(db, of.organization.id, of.now);
  for (const key of new Set([...Object.keys(counters), ...Object.keys(rows)]))
    check(key, counters[key], rows[key]);
  for (const asset of assets) {
    const open = vulnerabilities.filter(
      (vulnerability) => vulnerability.assets.some(({ uid }) => uid === asset.uid) && isOpen(vulnerability),
    );
    check(`the number of open vulnerabilities of ${asset.location}`, asset.open_vulnerabilities, open.length);
  }
  return state;
}

function factsOf(
  finding: Vulnerability,
  assets: string[],
  nameImport: StateOf['nameImport'],
): Facts & { assets: string[] } {
  return {
    assets,
    title: finding.title,
    severity: finding.severity,
    description: finding.description,
    impact: finding.impact,
    recommended_fix: finding.recommendedFix,
    cvss: [finding.cvssScore, finding.cvssVector],
    cve_ids: finding.cveIds,
    locations: finding.exploitableLocations.map(({ type, value }) => `${type} ${value}`).sort(),
    location_count: finding.locationCount,
    status_id: finding.statusId,
    closed_at: dateOf(finding.closedAt),
    gone_at: dateOf(finding.goneAt),
    gone_import: nameImport(finding.goneImportId),
    first_seen_at: dateOf(finding.firstSeenAt),
    last_seen_at: dateOf(finding.lastSeenAt),
    import: nameImport(finding.importId),
    last_import: nameImport(finding.lastImportId),
    tags: finding.tags.map(({ name }) => name).sort(),
    assignee: finding.assignee !== null,
    due_on: finding.dueOn,
    comments: finding.commentCount,
    attachments: finding.attachments.length,
  };
}

const dateOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
