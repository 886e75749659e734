import { sql, type SqlBool } from 'kysely';
import { inList } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/engine.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { updateLastSeen } from '../assets/scans/queries.ts';
import { type CoverableFinding, findNewerCoverage } from './coverage.ts';
import { recordStatusChanges, systemAttribution } from './import-status-changes.ts';
import type { FindingsJob } from './import-types.ts';
import { insertNewFindings, type NewFinding } from './insert-findings.ts';
import { assetKey, findOrCreateAssets } from './resolve-assets.ts';
import type { AssetLocation, KnownFinding, Sighting } from './sighting.ts';
import { updateSeenFindings } from './update-seen-findings.ts';
import { DeltaAccumulator, insertDeltas } from '../shared/counters.ts';
import { assessmentIsVisible, visibilityOf, visibilityParameters } from '../shared/visibility.ts';
import { statusTimelineEntry } from '../vulnerabilities/change-status.ts';
import { resolveTags } from '../vulnerabilities/resolve-tags.ts';
import { isClosed, severityRank, STATUS } from '../shared/statuses-and-severities.ts';
import { recordTimelineEntries, type TimelineEntry } from '../vulnerabilities/timeline.ts';
import { foldName } from '../../runtime/fold-case.ts';

/** What happened to a finding; `below`: not created because it is below the minimum severity. */
export type SightingOutcome = 'new' | 'again' | 'reopened' | 'below';

export interface UpsertResult {
  /** In the order of the sightings. */
  outcomes: SightingOutcome[];
  assetsCreated: AssetLocation[];
}

const knownFindings = prepareQuery<{ assessment: number; identities: readonly string[] }, KnownFinding>(
  (db, p) =>
    db
      .selectFrom('scanner_findings as finding')
      .innerJoin('vulnerabilities', 'vulnerabilities.id', 'finding.vulnerability_id')
      .select([
        'finding.vulnerability_id as id',
        'finding.identity_hash as identity',
        'finding.content_hash as content',
        'finding.first_seen_at',
        'finding.last_seen_at',
        'finding.last_import_id',
        'finding.cover_key',
        'finding.gone_at',
        'finding.gone_import_id',
        sql<number>`case when exists (select 1 from vulnerability_assets as link
        where link.vulnerability_id = finding.vulnerability_id) then 1 else 0 end`.as('is_linked'),
        'vulnerabilities.import_id',
        'vulnerabilities.status_id',
        'vulnerabilities.closed_at',
      ])
      .where('finding.assessment_id', '=', p.assessment)
      .where((eb) => inList(db, eb.ref('finding.identity_hash'), p.identities)),
);

/**
 * Creates or updates the vulnerabilities of an assessment from some of a report's findings (docs/companions.md, section
 * 7). Idempotent: a second run changes nothing and returns the same outcomes.
 * @param sightings one per identity
 * @param now milliseconds since 1970
 */
export async function upsertFindings(
  tx: Transaction,
  job: FindingsJob,
  sightings: readonly Sighting[],
  now: number,
): Promise<UpsertResult> {
  const known = new Map<string, KnownFinding>();
  const identities = sightings.map(({ identity }) => identity);
  for (const row of await knownFindings(tx, { assessment: job.assessment.id, identities }))
    known.set(row.identity, row);

  const minimumRank = job.options.minimumSeverity === null ? 0 : severityRank(job.options.minimumSeverity);
  const newSightings = sightings.filter(
    ({ identity, severity }) => !known.has(identity) && severityRank(severity) >= minimumRank,
  );
  const sums = new DeltaAccumulator();
  const seen = sightings.flatMap((sighting) => {
    const finding = known.get(sighting.identity);
    return finding === undefined ? [] : [{ sighting, finding }];
  });
  // The known findings first: vulnerabilities are locked before assets.
  const { reopened, ...updated } = await updateSeenFindings(tx, job, seen, sums, now);
  const assetsCreated = await createFindings(tx, job, newSightings, sums, now);
  // Last, because concurrent transactions write to the same counters.
  await insertDeltas(tx, sums.rows());

  const isNew = new Set(newSightings.map(({ identity }) => identity));
  const outcomes = sightings.map(({ identity }): SightingOutcome => {
    const finding = known.get(identity);
    if (finding === undefined) return isNew.has(identity) ? 'new' : 'below';
    if (finding.import_id === job.id) return 'new';
    return reopened.has(finding.id) ? 'reopened' : 'again';
  });
  return { outcomes, assetsCreated: [...assetsCreated, ...updated.assetsCreated] };
}

/** @returns the created assets */
async function createFindings(
  tx: Transaction,
  job: FindingsJob,
  sightings: readonly Sighting[],
  sums: DeltaAccumulator,
  now: number,
): Promise<AssetLocation[]> {
  if (sightings.length === 0) return [];
  const { options, caller, organizationId } = job;
  const assetSightings = sightings.flatMap(({ asset, seenAt }) =>
    asset === null ? [] : [{ asset, seenAt }],
  );
  const assets = await findOrCreateAssets(tx, job, assetSightings, now);
  const assetOf = ({ asset }: Sighting) => (asset === null ? undefined : assets.ids.get(assetKey(asset)));
  const seenAt = new Map<number, number>();
  for (const sighting of sightings) {
    const asset = assetOf(sighting);
    if (asset !== undefined && assets.writable.has(asset))
      seenAt.set(asset, Math.max(seenAt.get(asset) ?? 0, sighting.seenAt));
  }
  await updateLastSeen(tx, [...seenAt]);
  const tagNames = [...new Set([...options.tags, ...sightings.flatMap(({ tags }) => tags)])];
  const tags =
    tagNames.length === 0 ? [] : await resolveTags(tx, { actor: caller, now }, organizationId, { tagNames });
  const tagIds = new Map(tags.map((tag) => [tag.normalized_name, tag.id]));
  const tagsOf = (names: readonly string[]): number[] => [
    ...new Set([...options.tags, ...names].flatMap((name) => tagIds.get(foldName(name)) ?? [])),
  ];
  const decisions = options.carry
    ? await findCarriedDecisions(tx, job, sightings)
    : new Map<string, number>();
  const newerCoverage = await findNewerCoverage(tx, job, job.id, sightings.map(toCoverable));

  const findings = sightings.map((sighting): NewFinding => {
    const gone = newerCoverage.get(sighting.identity) ?? null;
    const decision = decisions.get(sighting.identity);
    const base = { sighting, asset: assetOf(sighting), gone, tags: tagsOf(sighting.tags) };
    if (decision !== undefined) return { ...base, statusId: decision };
    if (gone !== null && options.whenGone === 'fix')
      return { ...base, statusId: STATUS.fixed, closedAt: gone.coveredAt };
    return { ...base, statusId: STATUS.pendingReview };
  });
  const ids = await insertNewFindings(tx, job, findings, { sums, now });
  const entries = findings.flatMap(({ gone, statusId }, index): TimelineEntry[] => {
    const of = { organizationId, vulnerabilityId: ids[index] as number };
    return [
      ...(gone === null ? [] : [{ ...of, kind: 'gone' as const, importId: job.id }]),
      ...(isClosed(statusId)
        ? [statusTimelineEntry({ ...of, importId: job.id }, STATUS.pendingReview, statusId)]
        : []),
    ];
  });
  await recordTimelineEntries(tx, systemAttribution(job, now), entries);
  await recordStatusChanges(
    tx,
    job,
    now,
    findings.flatMap(({ statusId }, index) =>
      isClosed(statusId)
        ? [
            {
              id: ids[index] as number,
              before: STATUS.pendingReview,
              after: statusId,
              statusSetAt: now,
              closedAt: null,
            },
          ]
        : [],
    ),
  );
  return assets.created;
}

const toCoverable = ({ identity, source, coverage: cover, seenAt }: Sighting): CoverableFinding<string> => ({
  id: identity,
  source,
  coverage: cover,
  seenAt,
});

/**
 * Accepted Risk, Not Valid and Out Of Scope. Duplicate refers to a finding of the same assessment and is never carried
 * over.
 */
const CARRIED_STATUSES = [STATUS.acceptedRisk, STATUS.notValid, STATUS.outOfScope];

/**
 * Finds the decisions on the same findings in other assessments that the importer can see.
 * @returns status ids by identity; the latest decision wins
 */
async function findCarriedDecisions(
  tx: Transaction,
  { organizationId, assessment, caller }: FindingsJob,
  sightings: readonly Sighting[],
): Promise<Map<string, number>> {
  const identities = sightings.map(({ identity }) => identity);
  const rows = await tx
    .selectFrom('scanner_findings as finding')
    .innerJoin('vulnerabilities', 'vulnerabilities.id', 'finding.vulnerability_id')
    .innerJoin('assessments', 'assessments.id', 'finding.assessment_id')
    .select(['finding.identity_hash as identity', 'vulnerabilities.status_id'])
    .where((eb) => inList(tx, eb.ref('finding.identity_hash'), identities))
    .where('finding.organization_id', '=', organizationId)
    .where('finding.assessment_id', '<>', assessment.id)
    .where('vulnerabilities.status_id', 'in', CARRIED_STATUSES)
    .where(sql<SqlBool>`${assessmentIsVisible(visibilityOf(caller), visibilityParameters(caller))}`)
    .orderBy('vulnerabilities.status_set_at')
    .orderBy('vulnerabilities.id')
    .execute();
  return new Map(rows.map(({ identity, status_id }) => [identity, status_id]));
}
