import { sql } from 'kysely';
import type { Transaction } from '../../db/engine.ts';
import { isOneOf } from '../../db/dialect-sql.ts';
import { prepare } from '../../db/prepared-queries.ts';
import { noteAssetsSeen } from '../assets/scans/queries.ts';
import { addTallyRows, TallySums } from '../shared/counters.ts';
import { FIXED, isClosed, severityRank } from '../vulnerabilities/statuses-and-severities.ts';
import { recordTimelines, type TimelineEntry } from '../vulnerabilities/timeline.ts';
import { findTags } from '../vulnerabilities/resolve-tags.ts';
import { carriedDecisions } from './carry-decisions.ts';
import { assetKey, findOrMakeAssets } from './resolve-assets.ts';
import { type Coverable, coveredSince } from './coverage.ts';
import type { FindingsJob } from './import-types.ts';
import { insertStatuses, statusEntry, unnamed } from './import-status-changes.ts';
import { insertFindingsOf, type NewFinding } from './insert-findings.ts';
import { seeAgain } from './update-seen-findings.ts';
import type { KnownFinding, SightedAsset, Sighting } from './sighting.ts';

/** What became of a finding; `below` is of less than the severity that is wanted, and was not made. */
export type SightingFate = 'new' | 'again' | 'reopened' | 'below';

export interface SightingsDone {
  /** In the order of the sightings. */
  fates: SightingFate[];
  assetsCreated: SightedAsset[];
}

const knownFindings = prepare<{ assessment: number; identities: readonly string[] }, KnownFinding>((db, p) =>
  db
    .selectFrom('scanner_findings as finding')
    .innerJoin('vulnerabilities', 'vulnerabilities.id', 'finding.vulnerability_id')
    .select([
      'finding.vulnerability_id as id',
      'finding.identity',
      'finding.content',
      'finding.first_seen_at',
      'finding.last_seen_at',
      'finding.last_import_id',
      'finding.gone_at',
      'finding.gone_import_id',
      sql<number>`case when exists (select 1 from vulnerability_assets as link
        where link.vulnerability_id = finding.vulnerability_id) then 1 else 0 end`.as('is_linked'),
      'vulnerabilities.import_id',
      'vulnerabilities.status_id',
      'vulnerabilities.closed_at',
    ])
    .where('finding.assessment_id', '=', p.assessment)
    .where((eb) => isOneOf(db, eb.ref('finding.identity'), p.identities)),
);

/**
 * Brings the vulnerabilities of an assessment up to what a report says of some findings (docs/companions.md, section 7).
 * Applied twice it changes nothing more, and tells the same.
 * @param sightings each identity once
 * @param now milliseconds since 1970
 */
export async function putFindings(
  tx: Transaction,
  job: FindingsJob,
  sightings: readonly Sighting[],
  now: number,
): Promise<SightingsDone> {
  const known = new Map<string, KnownFinding>();
  const identities = sightings.map(({ identity }) => identity);
  for (const row of await knownFindings(tx, { assessment: job.assessment.id, identities }))
    known.set(row.identity, row);

  const least = job.options.minimumSeverity === null ? 0 : severityRank(job.options.minimumSeverity);
  const made = sightings.filter(
    ({ identity, severity }) => !known.has(identity) && severityRank(severity) >= least,
  );
  const sums = new TallySums();
  const assetsCreated = await makeFindings(tx, job, made, sums, now);
  const seen = sightings.flatMap((sighting) => {
    const finding = known.get(sighting.identity);
    return finding === undefined ? [] : [{ sighting, finding }];
  });
  const { reopened, ...again } = await seeAgain(tx, job, seen, sums, now);
  // Last, as others write of the same counts meanwhile.
  await addTallyRows(tx, sums.rows());

  const isMade = new Set(made.map(({ identity }) => identity));
  const fates = sightings.map(({ identity }): SightingFate => {
    const finding = known.get(identity);
    if (finding === undefined) return isMade.has(identity) ? 'new' : 'below';
    if (finding.import_id === job.id) return 'new';
    return reopened.has(finding.id) ? 'reopened' : 'again';
  });
  return { fates, assetsCreated: [...assetsCreated, ...again.assetsCreated] };
}

/** @returns the assets that were made */
async function makeFindings(
  tx: Transaction,
  job: FindingsJob,
  sightings: readonly Sighting[],
  sums: TallySums,
  now: number,
): Promise<SightedAsset[]> {
  if (sightings.length === 0) return [];
  const { options, caller, organizationId } = job;
  const placed = sightings.flatMap(({ asset, seenAt }) => (asset === null ? [] : [{ asset, seenAt }]));
  const assets = await findOrMakeAssets(tx, job, placed, now);
  const assetOf = ({ asset }: Sighting) => (asset === null ? undefined : assets.ids.get(assetKey(asset)));
  const seenAt = new Map<number, number>();
  for (const sighting of sightings) {
    const asset = assetOf(sighting);
    if (asset !== undefined) seenAt.set(asset, Math.max(seenAt.get(asset) ?? 0, sighting.seenAt));
  }
  if (job.writesAssets) await noteAssetsSeen(tx, [...seenAt]);
  const tags =
    options.tags.length === 0
      ? []
      : await findTags(tx, { actor: caller, now }, organizationId, { tagNames: options.tags });
  const decisions = options.carry ? await carriedDecisions(tx, job, sightings) : new Map<string, number>();
  const covered = await coveredSince(tx, job, job.id, sightings.map(toBeCovered));

  const findings = sightings.map((sighting): NewFinding => {
    const gone = covered.get(sighting.identity) ?? null;
    const decision = decisions.get(sighting.identity);
    const base = { sighting, asset: assetOf(sighting), gone };
    if (decision !== undefined) return { ...base, statusId: decision };
    if (gone !== null && options.whenGone === 'fix')
      return { ...base, statusId: FIXED, closedAt: gone.coveredAt };
    return { ...base, statusId: 1 };
  });
  const ids = await insertFindingsOf(tx, job, findings, { tags: tags.map(({ id }) => id), sums, now });
  const entries = findings.flatMap(({ gone, statusId }, index): TimelineEntry[] => {
    const of = { organizationId, vulnerabilityId: ids[index] as number };
    return [
      ...(gone === null ? [] : [{ ...of, kind: 'gone' as const, after: { import_id: job.id } }]),
      ...(isClosed(statusId) ? [statusEntry(of, job, 1, statusId)] : []),
    ];
  });
  await recordTimelines(tx, unnamed(job, now), entries);
  await insertStatuses(
    tx,
    job,
    now,
    findings.flatMap(({ statusId }, index) =>
      isClosed(statusId)
        ? [{ id: ids[index] as number, before: 1, after: statusId, statusSetAt: now, closedAt: null }]
        : [],
    ),
  );
  return assets.created;
}

const toBeCovered = ({ identity, source, cover, seenAt }: Sighting): Coverable<string> => ({
  id: identity,
  source,
  cover,
  seenAt,
});
