import type { Act, Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { prepareWrite } from '../../db/prepared.ts';
import { recordChange } from '../shared/audit.ts';
import { invalid, missing } from '../shared/failure.ts';
import { searchKey } from '../shared/filters.ts';
import {
  listingWithin,
  perReach,
  reachOfAccount,
  type ReachParameters,
  reachParameters,
} from '../shared/reach.ts';
import { addTallies } from '../shared/tallies.ts';
import { closedAt, statusFaults } from './catalogue.ts';
import { type FindingColumns, type FindingInput, readFinding } from './finding.ts';
import { dueDayFaults, findAssets, requireAssignee } from './named-things.ts';
import { completeVulnerabilities, type WholeRow, type WholeVulnerability } from './whole-vulnerabilities.ts';
import { findTags, type TagsInput } from './wanted-tags.ts';
import { tallyDifferences } from './vulnerability-tallies.ts';

/** What operation 18 takes; what is absent has its default. */
export interface VulnerabilityInput extends FindingInput, TagsInput {
  /** A uid. */
  assessment: string;
  statusId?: number | undefined;
  /** Assets of the organization. */
  assetUids?: readonly string[] | undefined;
  /** Somebody with access to the assessment. */
  assigneeId?: number | undefined;
  /** A day. */
  dueOn?: string | undefined;
}

/**
 * Creates a vulnerability (operation 18).
 * @throws Failure `invalid` for what is wrong with what is said of it, and for an unknown tag, asset or assignee,
 *   `missing` for an assessment that the caller has no access to
 */
export async function reportVulnerability(
  tx: Transaction,
  act: Act<Caller>,
  input: VulnerabilityInput,
): Promise<WholeVulnerability> {
  const finding = readFinding(input);
  const { statusId = 1, dueOn = null } = input;
  const faults = [...statusFaults('statusId', statusId), ...dueDayFaults(dueOn)];
  if (faults.length > 0) throw invalid(faults);
  const { actor: caller } = act;
  const [assessment] = await findAssessment(reachOfAccount(caller))(tx, {
    ...reachParameters(caller),
    uid: input.assessment,
  });
  if (assessment === undefined) throw missing('assessment');
  const { organization_id: organizationId } = assessment;
  const [assets] = await Promise.all([
    findAssets(tx, caller, organizationId, input.assetUids ?? []),
    requireAssignee(tx, assessment, input.assigneeId),
  ]);
  const tags = await findTags(tx, act, organizationId, input);
  const row = await insertVulnerability(tx, act, assessment, finding, {
    statusId,
    assigneeId: input.assigneeId ?? null,
    dueOn,
    tags: tags.map(({ id }) => id),
    assets: assets.map(({ id }) => id),
  });
  await recordCreation(tx, act, row, {
    assessment: assessment.uid,
    tags: tags.map(({ id }) => id),
    assets: assets.map(({ uid }) => uid),
  });
  const [whole] = await completeVulnerabilities(tx, caller, [row], { withAttachments: false });
  return whole as WholeVulnerability;
}

/** What every change of an assessment's vulnerabilities needs of it. */
export interface AssessmentOfFinding {
  id: number;
  uid: string;
  organization_id: number;
}

/** An assessment that the caller reaches, by its uid. */
export const findAssessment = perReach((reach) =>
  prepareWrite<ReachParameters & { uid: string }, AssessmentOfFinding>((tx, p) =>
    tx
      .selectFrom('assessments')
      .select(['id', 'uid', 'organization_id'])
      .where('uid', '=', p.uid)
      .where(listingWithin(reach, p)),
  ),
);

type NewRow = Omit<WholeRow, 'id' | 'version'> & { title_key: string; description_key: string };

const insertRow = prepareWrite<NewRow, { id: number }>((tx, p) =>
  tx
    .insertInto('vulnerabilities')
    .values({
      organization_id: p.organization_id,
      assessment_id: p.assessment_id,
      severity: p.severity,
      status_id: p.status_id,
      status_set_at: p.status_set_at,
      closed_at: p.closed_at,
      cvss_score: p.cvss_score,
      cvss_vector: p.cvss_vector,
      created_at: p.created_at,
      updated_at: p.updated_at,
      created_by: p.created_by,
      assignee_id: p.assignee_id,
      due_on: p.due_on,
      source: p.source,
      first_seen_at: p.first_seen_at,
      last_seen_at: p.last_seen_at,
      import_id: p.import_id,
      last_import_id: p.last_import_id,
      location_count: p.location_count,
      title: p.title,
      category_parent: p.category_parent,
      category_display: p.category_display,
      cve_ids: p.cve_ids,
      cwe_ids: p.cwe_ids,
      description: p.description,
      impact: p.impact,
      recommended_fix: p.recommended_fix,
      exploitable_locations: p.exploitable_locations,
      validation_steps: p.validation_steps,
      http_requests: p.http_requests,
      reference_urls: p.reference_urls,
      title_key: p.title_key,
      description_key: p.description_key,
    })
    .returning('id'),
);

/** Writes a vulnerability with its tags, assets and counts. */
async function insertVulnerability(
  tx: Transaction,
  act: Act,
  { id: assessmentId, organization_id: organizationId }: AssessmentOfFinding,
  finding: FindingColumns,
  more: {
    statusId: number;
    assigneeId: number | null;
    dueOn: string | null;
    /** Ids. */
    tags: readonly number[];
    /** Ids. */
    assets: readonly number[];
  },
): Promise<WholeRow> {
  const { statusId, tags, assets } = more;
  const { now } = act;
  const row: NewRow = {
    ...finding,
    organization_id: organizationId,
    assessment_id: assessmentId,
    status_id: statusId,
    status_set_at: now,
    closed_at: closedAt(statusId, now),
    created_at: now,
    updated_at: now,
    created_by: act.actor.userId,
    assignee_id: more.assigneeId,
    due_on: more.dueOn,
    source: 'manual',
    first_seen_at: now,
    last_seen_at: now,
    import_id: null,
    last_import_id: null,
    title_key: searchKey(finding.title),
    description_key: searchKey(finding.description),
  };
  const [inserted] = await insertRow(tx, row);
  const id = (inserted as { id: number }).id;
  await addTags(tx, { organizationId, id }, tags);
  await addAssets(tx, { organizationId, id }, assets);
  const counted = { organizationId, assessmentId, statusId, severity: finding.severity, tags, assets };
  await addTallies(tx, tallyDifferences(null, counted));
  return { ...row, id, version: 1 };
}

/** A tag that somebody deletes at the same time breaks the reference to it: the unit of work is then run again. */
export async function addTags(
  tx: Transaction,
  { organizationId, id }: { organizationId: number; id: number },
  tags: readonly number[],
): Promise<void> {
  if (tags.length === 0) return;
  await tx
    .insertInto('vulnerability_taggings')
    .values(tags.map((tag) => ({ organization_id: organizationId, vulnerability_id: id, tag_id: tag })))
    .execute();
}

/** An asset that somebody deletes at the same time breaks the reference to it as well. */
export async function addAssets(
  tx: Transaction,
  { organizationId, id }: { organizationId: number; id: number },
  assets: readonly number[],
): Promise<void> {
  if (assets.length === 0) return;
  await tx
    .insertInto('vulnerability_assets')
    .values(
      assets.map((asset) => ({ organization_id: organizationId, vulnerability_id: id, asset_id: asset })),
    )
    .execute();
}

/** What the audit log tells of a vulnerability: all its members, as the API calls them. */
export function recordOf(
  row: WholeRow,
  named: { assessment: string; tags: readonly number[]; assets: readonly string[] },
): Record<string, unknown> {
  return {
    assessment: named.assessment,
    title: row.title,
    description: row.description,
    severity: row.severity,
    status_id: row.status_id,
    cvss_score: row.cvss_score,
    cvss_vector: row.cvss_vector,
    category: { parent: row.category_parent, display: row.category_display },
    impact: row.impact,
    recommended_fix: row.recommended_fix,
    cve_ids: JSON.parse(row.cve_ids),
    cwe_ids: JSON.parse(row.cwe_ids),
    exploitable_locations: JSON.parse(row.exploitable_locations),
    validation_steps: JSON.parse(row.validation_steps),
    http_requests: JSON.parse(row.http_requests),
    reference_urls: JSON.parse(row.reference_urls),
    assignee_id: row.assignee_id,
    due_on: row.due_on,
    source: row.source,
    tags: named.tags,
    asset_uids: named.assets,
  };
}

function recordCreation(
  tx: Transaction,
  act: Act,
  row: WholeRow,
  named: { assessment: string; tags: readonly number[]; assets: readonly string[] },
): Promise<void> {
  return recordChange(tx, act, {
    action: 'vulnerability.create',
    object: ['vulnerability', row.id],
    organizationId: row.organization_id,
    before: null,
    after: recordOf(row, named),
  });
}
