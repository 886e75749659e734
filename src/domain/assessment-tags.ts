import type { Actor } from '../auth/callers.ts';
import type { Transaction } from '../db/engine.ts';
import { nameKey } from '../db/portable.ts';
import { recordChange } from './audit.ts';
import { ASSESSMENT_UID } from './assessments.ts';
import { Failure, missing } from './failure.ts';
import { cleanName } from './names.ts';

/** An assessment tag as V1 shows it. */
export interface AssessmentTag {
  id: number;
  name: string;
}

export interface NewAssessmentTag {
  name: string;
  /** The uid of the assessment that gets the tag. */
  assessment: string;
}

/**
 * Creates an assessment tag and puts it on an assessment, for an actor who may do that.
 * @throws Failure `invalid` for a bad name, `missing` for the assessment, `conflict` for a name that exists
 */
export async function createAssessmentTag(
  tx: Transaction,
  actor: Actor,
  input: NewAssessmentTag,
  now: number,
): Promise<AssessmentTag> {
  const name = cleanName('name', input.name);
  const assessment = ASSESSMENT_UID.test(input.assessment)
    ? await tx
        .selectFrom('assessments')
        .select(['id', 'organization_id'])
        .where('uid', '=', input.assessment)
        .executeTakeFirst()
    : undefined;
  if (assessment === undefined) throw missing('assessment');
  const tag = await tx
    .insertInto('assessment_tags')
    .values({ organization_id: assessment.organization_id, name, name_key: nameKey(name) })
    .onConflict((conflict) => conflict.columns(['organization_id', 'name_key']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (tag === undefined) throw nameTaken(name);
  await tx
    .insertInto('assessment_taggings')
    .values({ assessment_id: assessment.id, tag_id: tag.id })
    .execute();
  await recordChange(tx, actor, {
    at: now,
    action: 'assessment-tag.create',
    object: ['assessment-tag', tag.id],
    organizationId: assessment.organization_id,
    before: null,
    after: { name, assessment: input.assessment },
  });
  return { id: tag.id, name };
}

function nameTaken(name: string): Failure {
  return new Failure('conflict', `An assessment tag named "${name}" exists already in this organization.`, [
    { property: 'name', message: 'exists already', value: name },
  ]);
}
