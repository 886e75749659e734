import { type SqlBool, sql } from 'kysely';
import type { Transaction } from '../../db/engine.ts';
import { isOneOf } from '../../db/portable.ts';
import { prepare } from '../../db/prepared.ts';
import { noteAssetsSeen } from '../assets/host-scans.ts';
import { addTallyRows, TallySums } from '../shared/tallies.ts';
import { isClosed, severityRank } from '../vulnerabilities/catalogue.ts';
import { recordTimelines, type TimelineEntry } from '../vulnerabilities/timeline.ts';
import { findTags } from '../vulnerabilities/wanted-tags.ts';
import { carriedDecisions } from './carried-decisions.ts';
import { assetKey, findOrMakeAssets } from './found-assets.ts';
import type { FindingsJob } from './import-job.ts';
import { insertStatuses, statusEntry, unnamed } from './import-marks.ts';
import { insertFindingsOf, type NewFinding } from './new-findings.ts';
import { coversPorts, portsNamed } from './port-sets.ts';
import { type KnownFinding, seeAgain } from './seen-again.ts';
import type { SightedAsset, Sighting } from './sighting.ts';

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
    ({ identity, finding }) => !known.has(identity) && severityRank(finding.severity) >= least,
  );
  const sums = new TallySums();
  const assetsCreated = await makeFindings(tx, job, made, sums, now);
  const seen = sightings.flatMap((sighting) => {
    const finding = known.get(sighting.identity);
    return finding === undefined ? [] : [{ sighting, finding }];
  });
  const reopened = await seeAgain(tx, job, seen, sums, now);
  // Last, as others write of the same counts meanwhile.
  await addTallyRows(tx, sums.rows());

  const isMade = new Set(made.map(({ identity }) => identity));
  const fates = sightings.map(({ identity }): SightingFate => {
    const finding = known.get(identity);
    if (finding === undefined) return isMade.has(identity) ? 'new' : 'below';
    if (finding.import_id === job.id) return 'new';
    return reopened.has(finding.id) ? 'reopened' : 'again';
  });
  return { fates, assetsCreated };
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
  const covered = await coveredSince(tx, job, sightings);

  const findings = sightings.map((sighting): NewFinding => {
    const goneAt = covered.get(sighting.identity) ?? null;
    const decision = decisions.get(sighting.identity);
    const base = { sighting, asset: assetOf(sighting), goneAt };
    if (decision !== undefined) return { ...base, statusId: decision };
    if (goneAt !== null && options.whenGone === 'fix') return { ...base, statusId: 5, closedAt: goneAt };
    return { ...base, statusId: 1 };
  });
  const ids = await insertFindingsOf(tx, job, findings, { tags: tags.map(({ id }) => id), sums, now });
  const entries = findings.flatMap(({ goneAt, statusId }, index): TimelineEntry[] => {
    const of = { organizationId, vulnerabilityId: ids[index] as number };
    return [
      ...(goneAt === null ? [] : [{ ...of, kind: 'gone' as const, after: { import_id: job.id } }]),
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

/**
 * @returns by identity, when a newer report covered a finding's target whole: it no longer had it, as it would be known
 *   else
 */
async function coveredSince(
  tx: Transaction,
  job: FindingsJob,
  sightings: readonly Sighting[],
): Promise<ReadonlyMap<string, number>> {
  const keys = new Set<string>();
  for (const { cover } of sightings) for (const key of keysCovering(cover)) keys.add(key);
  if (keys.size === 0) return new Map();
  const rows = await tx
    .selectFrom('import_coverage')
    .select(['source', 'cover_key', 'ports', 'covered_at'])
    .where('assessment_id', '=', job.assessment.id)
    .where((eb) => isOneOf(tx, eb.ref('cover_key'), [...keys]))
    .where(sql<SqlBool>`import_id <> ${job.id}`)
    .execute();
  const gone = new Map<string, number>();
  if (rows.length === 0) return gone;
  const texts = await portsNamed(
    tx,
    job.organizationId,
    rows.map((row) => row.ports),
  );
  const coverage = new Map<string, typeof rows>();
  for (const row of rows) {
    const key = `${row.source} ${row.cover_key}`;
    coverage.set(key, [...(coverage.get(key) ?? []), row]);
  }
  for (const { identity, source, cover, seenAt } of sightings) {
    const times = keysCovering(cover)
      .flatMap((key) => coverage.get(`${source} ${key}`) ?? [])
      .filter((row) => coversPorts(texts.get(row.ports) ?? row.ports, cover?.ports ?? ''))
      .map((row) => row.covered_at);
    const last = Math.max(...times, 0);
    if (last > seenAt) gone.set(identity, last);
  }
  return gone;
}

/** A target that is a host covers its sites as well, and is remembered as such. */
function keysCovering(cover: Sighting['cover']): string[] {
  if (cover === null) return [];
  return cover.host === null ? [cover.key] : [cover.key, targetKey(cover.host)];
}

/** What is remembered of a host that was covered with its sites. */
export const targetKey = (host: string): string => `target:${host}`;
