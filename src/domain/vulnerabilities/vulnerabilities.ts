import type { Act } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { isOneOf } from '../../db/portable.ts';
import { recordChange } from '../shared/audit.ts';
import { type Fault, invalid } from '../shared/failure.ts';
import { cleanName } from '../shared/names.ts';
import { unknownTag } from './vulnerability-tags.ts';

export const SEVERITIES = ['Critical', 'High', 'Medium', 'Low', 'Informational'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The catalogue behind `status_id` (docs/decided.md, section 6). */
export const VULNERABILITY_STATUSES = [
  { id: 1, name: 'Pending Review', phase: 'new' },
  { id: 2, name: 'Pending Fix', phase: 'open' },
  { id: 3, name: 'Fix In Progress', phase: 'open' },
  { id: 4, name: 'Pending Verification', phase: 'open' },
  { id: 5, name: 'Fixed', phase: 'closed' },
  { id: 6, name: 'Accepted Risk', phase: 'closed' },
  { id: 7, name: 'Not Valid', phase: 'closed' },
  { id: 8, name: 'Duplicate', phase: 'closed' },
  { id: 9, name: 'Out Of Scope', phase: 'closed' },
] as const;

/** Names of statuses by id. */
export const STATUS_NAMES: ReadonlyMap<number, string> = new Map(
  VULNERABILITY_STATUSES.map(({ id, name }) => [id, name]),
);

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
      cvss_score: cvssScore,
      created_at: act.now,
      updated_at: act.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const { filename, contentType, fileSize } of attachments) {
    await tx
      .insertInto('attachments')
      .values({
        vulnerability_id: vulnerability.id,
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

/** @returns what is wrong with the id of a status, or nothing */
export function statusFaults(property: string, id: number): Fault[] {
  return STATUS_NAMES.has(id) ? [] : [{ property, message: 'is not the id of a status', value: id }];
}
