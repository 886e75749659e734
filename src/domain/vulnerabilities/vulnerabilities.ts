import type { Transaction } from '../../db/engine.ts';
import { prepareWrite } from '../../db/prepared.ts';
import { listingWithin, perReach, type ReachParameters } from '../shared/reach.ts';
import type { FindingInput } from './finding.ts';
import type { TagsInput } from './wanted-tags.ts';
import type { WholeRow } from './whole-vulnerabilities.ts';

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
