import type { Act } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { isOneOf } from '../../db/portable.ts';
import { recordChange } from '../shared/audit.ts';
import { searchKey } from '../shared/filters.ts';
import { invalid } from '../shared/failure.ts';
import { cleanName } from '../shared/names.ts';
import { addTallies } from '../shared/tallies.ts';
import { closedAt, type Severity, statusFaults } from './catalogue.ts';
import { recordTimeline } from './timeline.ts';
import { tallyDifferences } from './vulnerability-tallies.ts';
import { unknownTag } from './vulnerability-tags.ts';

export interface NewVulnerability {
  /** The uid of the assessment that found it. */
  assessment: string;
  title: string;
  description: string;
  severity: Severity;
  statusId: number;
  /** 0 to 10; `null` when it was not scored. */
  cvssScore: number | null;
  /** Sizes in bytes. */
  attachments?: readonly { filename: string; contentType: string; fileSize: number }[] | undefined;
  /** Tags of the assessment's organization. */
  tagIds?: readonly number[] | undefined;
}

/**
 * Creates a vulnerability with its attachments and tags.
 * @throws Failure `invalid` for an unknown assessment, status or tag, a bad title and a score out of range
 */
export async function createVulnerability(
  tx: Transaction,
  act: Act,
  input: NewVulnerability,
): Promise<{ id: number }> {
  const { description, severity, statusId, cvssScore, attachments = [] } = input;
  const title = cleanName('title', input.title);
  const tagIds = [...new Set(input.tagIds ?? [])];
  const faults = [...statusFaults('statusId', statusId)];
  if (cvssScore !== null && !(cvssScore >= 0 && cvssScore <= 10))
    faults.push({ property: 'cvssScore', message: 'must be from 0 to 10', value: cvssScore });
  if (faults.length > 0) throw invalid(faults);
  const assessment = await tx
    .selectFrom('assessments')
    .select(['id', 'organization_id'])
    .where('uid', '=', input.assessment)
    .executeTakeFirst();
  if (assessment === undefined) {
    throw invalid({
      property: 'assessment',
      message: 'is not the uid of an assessment',
      value: input.assessment,
    });
  }
  const vulnerability = await tx
    .insertInto('vulnerabilities')
    .values({
      organization_id: assessment.organization_id,
      assessment_id: assessment.id,
      title,
      description,
      severity,
      status_id: statusId,
      status_set_at: act.now,
      closed_at: closedAt(statusId, act.now),
      cvss_score: cvssScore,
      created_at: act.now,
      updated_at: act.now,
      first_seen_at: act.now,
      last_seen_at: act.now,
      created_by: act.actor.userId,
      title_key: searchKey(title),
      description_key: searchKey(description),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const { filename, contentType, fileSize } of attachments) {
    await tx
      .insertInto('attachments')
      .values({
        organization_id: assessment.organization_id,
        vulnerability_id: vulnerability.id,
        user_id: act.actor.userId,
        filename,
        content_type: contentType,
        file_size: fileSize,
        created_at: act.now,
      })
      .execute();
  }
  if (tagIds.length > 0) {
    const known = await tx
      .selectFrom('vulnerability_tags')
      .select('id')
      .where('organization_id', '=', assessment.organization_id)
      .where((eb) => isOneOf(tx, eb.ref('id'), tagIds))
      .execute();
    const ids = new Set(known.map((tag) => tag.id));
    const unknown = tagIds.flatMap((id, index) => (ids.has(id) ? [] : [unknownTag(`tagIds.${index}`, id)]));
    if (unknown.length > 0) throw invalid(unknown);
    await tx
      .insertInto('vulnerability_taggings')
      .values(
        tagIds.map((id) => ({
          organization_id: assessment.organization_id,
          vulnerability_id: vulnerability.id,
          tag_id: id,
        })),
      )
      .execute();
  }
  const organizationId = assessment.organization_id;
  const counted = {
    organizationId,
    assessmentId: assessment.id,
    statusId,
    severity,
    tags: tagIds,
    assets: [],
  };
  await addTallies(tx, tallyDifferences(null, counted));
  await recordTimeline(tx, act, { organizationId, vulnerabilityId: vulnerability.id, kind: 'created' });
  await recordChange(tx, act, {
    action: 'vulnerability.create',
    object: ['vulnerability', vulnerability.id],
    organizationId: assessment.organization_id,
    before: null,
    after: {
      assessment: input.assessment,
      title,
      severity,
      status_id: statusId,
      cvss_score: cvssScore,
      tags: tagIds,
      attachments: attachments.map(({ filename }) => filename),
    },
  });
  return vulnerability;
}
