import { sql, type SqlBool } from 'kysely';
import { prepareInsert, reserveIds } from '../../db/bulk-insert.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { enqueueForSearchIndex } from '../../db/vulnerability-search.ts';
import { foldName } from '../../lib/fold-case.ts';
import { portSetKey } from '../assets/port-sets.ts';
import type { DeltaAccumulator } from '../shared/counters.ts';
import { isClosed, STATUS } from '../shared/statuses-and-severities.ts';
import {
  assessmentIsVisible,
  isDraftVisible,
  visibilityOf,
  visibilityParameters,
} from '../shared/visibility.ts';
import { statusTimelineEntry } from '../vulnerabilities/change-status.ts';
import {
  buildVulnerabilityRow,
  insertVulnerabilities,
  insertVulnerabilityAssets,
  insertVulnerabilityTags,
} from '../vulnerabilities/insert-vulnerabilities.ts';
import { resolveTags } from '../vulnerabilities/resolve-tags.ts';
import { recordTimelineEntries, type TimelineEntry } from '../vulnerabilities/timeline.ts';
import { counterDeltas } from '../vulnerabilities/counter-deltas.ts';
import { type CoveringScope, deriveFinding, type DerivedFinding } from './derive-finding.ts';
import { type Detection, contentOf, insertDetections, storePortsOf } from './finding-detections.ts';
import { storeContents } from './finding-contents.ts';
import { loadUntested } from './finding-facts.ts';
import type { FindingsJob } from './import-types.ts';
import { systemChangeContext } from './finding-state.ts';
import { findCoveringScopes } from './scan-scopes.ts';

/** A detection of a finding that no import has seen before. */
export interface NewFinding {
  detection: Detection;
  /** Whether the finding gets a vulnerability. Below the minimum severity it is only stored. */
  createsVulnerability: boolean;
  /** Id of its asset. */
  asset: number | undefined;
  /** A decision on the same finding in another assessment. */
  carriedStatusId: number | null;
}

const insertFindings = prepareInsert('scanner_findings', {
  vulnerability_id: 'int',
  organization_id: 'int',
  assessment_id: 'int',
  identity_hash: 'text',
  source: 'text',
  cover_key: 'text',
  cover_host: 'text',
  cover_ports: 'text',
  tags: 'text',
  content_hash: 'text',
  gone_at: 'int',
  gone_import_id: 'int',
});

/**
 * Creates findings, and a vulnerability for each that reaches the minimum severity. They get no audit event. Only a
 * vulnerability that is created gone or closed gets a timeline entry; the others have their import and time in the row.
 * @param sums collects the counter changes
 */
export async function createFindings(
  tx: Transaction,
  job: FindingsJob,
  findings: readonly NewFinding[],
  { sums, now }: { sums: DeltaAccumulator; now: number },
): Promise<void> {
  if (findings.length === 0) return;
  const { organizationId, assessment, id: importId, caller } = job;
  const isDraft = job.options.draft === true;
  const created = await deriveNewFindings(tx, job, findings, now);
  const vulnerabilities = created.filter(
    (entry): entry is CreatedVulnerability => entry.derived !== undefined,
  );
  await insertVulnerabilities(
    tx,
    vulnerabilities.map(({ id, detection, derived: { statusId, closedAt } }) => ({
      ...buildVulnerabilityRow(
        { validation_steps: '[]', ...detection.columns() },
        {
          id,
          assessment: { id: assessment.id, organization_id: organizationId },
          statusId,
          reporter: caller,
          isDraft,
          now,
        },
      ),
      closed_at: closedAt,
      source: detection.source,
      first_seen_at: detection.firstSeenAt,
      import_id: importId,
    })),
  );
  await storePortsOf(
    tx,
    job,
    findings.map(({ detection }) => detection),
  );
  await insertFindings(
    tx,
    created.map(({ id, detection, reportedContent, derived }) => [
      id,
      organizationId,
      assessment.id,
      detection.identity,
      detection.source,
      reportedContent.cover_key,
      reportedContent.cover_host,
      reportedContent.cover_ports,
      reportedContent.tags,
      reportedContent.content_hash,
      derived?.goneAt ?? null,
      derived?.goneImportId ?? null,
    ]),
  );
  await insertDetections(tx, job, created);
  await storeContents(
    tx,
    created.flatMap(({ id, detection, reportedContent, asset, derived }) =>
      derived === undefined
        ? [{ id, content: reportedContent, asset: asset ?? null, columns: detection.columns() }]
        : [],
    ),
  );
  await insertVulnerabilityAssets(
    tx,
    vulnerabilities.flatMap(({ id, asset }) =>
      asset === undefined ? [] : [[organizationId, id, asset] as const],
    ),
  );
  await insertVulnerabilityTags(
    tx,
    vulnerabilities.flatMap(({ id, tags }) => tags.map((tag) => [organizationId, id, tag])),
  );
  const entries = vulnerabilities.flatMap(({ id, derived: { statusId, goneAt } }): TimelineEntry[] => {
    const target = { organizationId, vulnerabilityId: id, importId, internal: isDraft };
    return [
      ...(goneAt === null ? [] : [{ ...target, kind: 'gone' as const }]),
      ...(isClosed(statusId) ? [statusTimelineEntry(target, STATUS.pendingReview, statusId)] : []),
    ];
  });
  await recordTimelineEntries(tx, systemChangeContext({ actor: caller, now }), entries);
  for (const { detection, asset, tags, derived } of vulnerabilities)
    sums.add(
      counterDeltas(null, {
        organizationId,
        assessmentId: assessment.id,
        statusId: derived.statusId,
        severity: detection.severity,
        draft: isDraft ? 1 : 0,
        source: detection.source,
        reportedAt: now,
        closedAt: derived.closedAt,
        retestStatus: null,
        tags,
        assets: asset === undefined ? [] : [asset],
      }),
    );
  await enqueueForSearchIndex(
    tx,
    { importId, organizationId },
    vulnerabilities.map(({ id }) => id),
  );
}

type CreatedFinding = Awaited<ReturnType<typeof deriveNewFindings>>[number];
type CreatedVulnerability = CreatedFinding & { derived: DerivedFinding };

/** @returns the findings with new ids, their tags and their first state */
async function deriveNewFindings(
  tx: Transaction,
  job: FindingsJob,
  findings: readonly NewFinding[],
  now: number,
) {
  const tagsOf = await resolveTagsOf(tx, job, findings, now);
  const ids = await reserveIds(tx, 'vulnerabilities', findings.length);
  const scopes = await scopesOf(tx, job, findings);
  return findings.map((finding, index) => {
    const { detection, createsVulnerability, carriedStatusId, asset } = finding;
    const { firstSeenAt, seenAt, isTimeKnown: isTimed } = detection;
    const derived = deriveFinding({
      detections: [
        { importId: job.id, firstSeenAt, seenAt, content: 0, createsVulnerability, isTimed, carriedStatusId },
      ],
      scopes: scopes[index] ?? [],
      decisions: [],
      firstEditedAt: null,
    });
    return {
      id: ids[index] as number,
      detection,
      content: 0,
      reportedContent: contentOf(detection, 0),
      createsVulnerability,
      carriedStatusId,
      asset,
      tags: tagsOf(finding),
      derived,
    };
  });
}

/** Finds the tags of new vulnerabilities, and creates missing ones. @returns the ids of the tags of a finding */
async function resolveTagsOf(
  tx: Transaction,
  { options, caller, organizationId }: FindingsJob,
  findings: readonly NewFinding[],
  now: number,
): Promise<(finding: NewFinding) => number[]> {
  const vulnerabilities = findings.filter(({ createsVulnerability }) => createsVulnerability);
  const namesOf = ({ detection }: NewFinding) => [...options.tags, ...detection.tags];
  const tagNames = [...new Set(vulnerabilities.flatMap(namesOf))];
  if (tagNames.length === 0) return () => [];
  const tags = await resolveTags(tx, { actor: caller, now }, organizationId, { tagNames });
  const ids = new Map(tags.map((tag) => [tag.normalized_name, tag.id]));
  return (finding) =>
    finding.createsVulnerability
      ? [...new Set(namesOf(finding).flatMap((name) => ids.get(foldName(name)) ?? []))]
      : [];
}

/** @returns by finding, the reports that covered it without containing it */
async function scopesOf(
  tx: Transaction,
  { organizationId, assessment }: FindingsJob,
  findings: readonly NewFinding[],
): Promise<(readonly CoveringScope[])[]> {
  const coveringScopes = await findCoveringScopes(
    tx,
    { organizationId, assessmentId: assessment.id },
    findings.map(({ detection: { source, scanScope } }) => ({
      source,
      cover_key: scanScope?.key ?? null,
      cover_host: scanScope?.host ?? null,
      cover_ports: portSetKey(scanScope?.ports ?? ''),
    })),
  );
  const identities = findings.flatMap(({ detection: { identity } }, index) =>
    coveringScopes[index]?.length === 0 ? [] : [identity],
  );
  const untested = await loadUntested(tx, assessment.id, identities);
  if (untested.size === 0) return coveringScopes;
  return coveringScopes.map((scopes, index) => {
    const { identity } = (findings[index] as NewFinding).detection;
    return scopes.filter(({ importId }) => untested.get(identity)?.includes(importId) !== true);
  });
}

/**
 * Accepted Risk, Not Valid and Out Of Scope. Duplicate refers to a finding of the same assessment and is never carried
 * over.
 */
const CARRIED_STATUSES = [STATUS.acceptedRisk, STATUS.notValid, STATUS.outOfScope];

/**
 * Finds the decisions on the same findings in other assessments that the importer can see.
 * @returns status ids by identity; the latest decision wins
 */
export async function findCarriedDecisions(
  tx: Transaction,
  { organizationId, assessment, caller }: FindingsJob,
  detections: readonly Detection[],
): Promise<Map<string, number>> {
  const identities = detections.map(({ identity }) => identity);
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
    .where(isDraftVisible(visibilityOf(caller)))
    .orderBy('vulnerabilities.status_set_at')
    .orderBy('vulnerabilities.id')
    .execute();
  return new Map(rows.map(({ identity, status_id }) => [identity, status_id]));
}
