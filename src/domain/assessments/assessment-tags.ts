import { type Act, administers, type Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { holdingRows, nameKey } from '../../db/dialect-sql.ts';
import { prepare, prepareUnread, prepareWrite } from '../../db/prepared-queries.ts';
import { recordChange } from '../audit/record-event.ts';
import { ASSESSMENT_UID } from './assessments.ts';
import { Failure, missing } from '../shared/errors.ts';
import { cleanName } from '../shared/names.ts';
import { type Expected, requireVersion } from '../shared/versions.ts';
import {
  belongsToOrganization,
  listingWithin,
  perReach,
  reachOfAccount,
  type ReachParameters,
  reachParameters,
} from '../shared/visibility.ts';

/** An assessment tag. */
export interface AssessmentTag {
  id: number;
  name: string;
  version: number;
}

export interface NewAssessmentTag {
  name: string;
  /** The uid of the assessment that gets the tag. */
  assessment: string;
}

interface Assessment {
  id: number;
  organization_id: number;
}

interface AssessmentTagRow {
  id: number;
  organization_id: number;
  name: string;
  version: number;
}

const assessmentByUid = prepare<{ uid: string }, Assessment>((db, p) =>
  db.selectFrom('assessments').select(['id', 'organization_id']).where('uid', '=', p.uid),
);

const reachableAssessment = perReach((reach) =>
  prepare<ReachParameters & { uid: string }, Assessment>((db, p) =>
    db
      .selectFrom('assessments')
      .select(['assessments.id', 'assessments.organization_id'])
      .where('assessments.uid', '=', p.uid)
      .where(listingWithin(reach, p)),
  ),
);

/** Finds a tag, and keeps others from changing it until this unit of work ends, so that the audit log is exact. */
const holdTag = perReach((reach) =>
  prepareWrite<ReachParameters & { id: number }, AssessmentTagRow>((tx, p) =>
    tx
      .selectFrom('assessment_tags')
      .where('id', '=', p.id)
      .where((eb) => belongsToOrganization(reach, eb.ref('organization_id'), p))
      .select(['id', 'organization_id', 'name', 'version'])
      .modifyEnd(holdingRows(tx)),
  ),
);

const insertTag = prepareWrite<
  { organization: number; name: string; key: string },
  { id: number; version: number }
>((tx, p) =>
  tx
    .insertInto('assessment_tags')
    .values({ organization_id: p.organization, name: p.name, name_key: p.key })
    .onConflict((conflict) => conflict.columns(['organization_id', 'name_key']).doNothing())
    .returning(['id', 'version']),
);

const insertTagging = prepareUnread<{ organization: number; assessment: number; tag: number }>((tx, p) =>
  tx
    .insertInto('assessment_taggings')
    .values({ organization_id: p.organization, assessment_id: p.assessment, tag_id: p.tag }),
);

const taggedAssessments = prepare<{ id: number }, { count: number }>((db, p) =>
  db
    .selectFrom('assessment_taggings')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tag_id', '=', p.id),
);

const deleteTag = prepareUnread<{ id: number }>((tx, p) =>
  tx.deleteFrom('assessment_tags').where('id', '=', p.id),
);

/** What shows the tag has changed. */
const countChange = prepareUnread<{ assessment: number; now: number }>((tx, p) =>
  tx
    .updateTable('assessments')
    .set((eb) => ({ updated_at: p.now, version: eb('version', '+', eb.lit(1)) }))
    .where('id', '=', p.assessment),
);

/** Renames unless another tag of the organization has the name. */
const renameTag = prepareWrite<
  { id: number; organization: number; name: string; key: string },
  { id: number }
>((tx, p) =>
  tx
    .updateTable('assessment_tags')
    .set((eb) => ({ name: p.name, name_key: p.key, version: eb('version', '+', eb.lit(1)) }))
    .where('id', '=', p.id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('assessment_tags as other')
            .select('other.id')
            .where('other.organization_id', '=', p.organization)
            .where('other.name_key', '=', p.key)
            .where('other.id', '<>', p.id),
        ),
      ),
    )
    .returning('id'),
);

/**
 * Creates an assessment tag and puts it on an assessment, for an actor who may do that.
 * @throws Failure `invalid` for a bad name, `missing` for the assessment, `conflict` for a name that exists
 */
export async function createAssessmentTag(
  tx: Transaction,
  act: Act,
  input: NewAssessmentTag,
): Promise<AssessmentTag> {
  const name = cleanName('name', input.name);
  const assessment = ASSESSMENT_UID.test(input.assessment)
    ? (await assessmentByUid(tx, { uid: input.assessment }))[0]
    : undefined;
  if (assessment === undefined) throw missing('assessment');
  const [tag] = await insertTag(tx, { organization: assessment.organization_id, name, key: nameKey(name) });
  if (tag === undefined) throw nameTaken(name);
  await insertTagging(tx, {
    organization: assessment.organization_id,
    assessment: assessment.id,
    tag: tag.id,
  });
  await countChange(tx, { assessment: assessment.id, now: act.now });
  await recordChange(tx, act, {
    action: 'assessment-tag.create',
    object: ['assessment-tag', tag.id],
    organizationId: assessment.organization_id,
    before: null,
    after: { name, assessment: input.assessment },
  });
  return { id: tag.id, name, version: tag.version };
}

/**
 * The same for a caller, who must be an admin of the assessment's organization.
 * @throws Failure besides, `missing` for an assessment that the caller has no access to, `forbidden` for who is no admin
 */
export async function createAssessmentTagAs(
  tx: Transaction,
  act: Act<Caller>,
  input: NewAssessmentTag,
): Promise<AssessmentTag> {
  const { actor: caller } = act;
  cleanName('name', input.name);
  const [assessment] = ASSESSMENT_UID.test(input.assessment)
    ? await reachableAssessment(reachOfAccount(caller))(tx, {
        ...reachParameters(caller),
        uid: input.assessment,
      })
    : [];
  if (assessment === undefined) throw missing('assessment');
  if (!administers(caller, assessment.organization_id)) throw adminsOnly();
  return createAssessmentTag(tx, act, input);
}

/**
 * Renames an assessment tag.
 * @throws Failure `invalid` for a bad name, `missing` for a tag that is not of the caller's organization, `forbidden`
 *   for who is no admin of it, `changed` for another version than is expected, `conflict` for a name that another tag has
 */
export async function renameAssessmentTag(
  tx: Transaction,
  act: Act<Caller>,
  id: number,
  newName: string,
  expected?: Expected,
): Promise<AssessmentTag> {
  const { actor: caller } = act;
  const name = cleanName('name', newName);
  const [tag] = await holdTag(reachOfAccount(caller))(tx, { ...reachParameters(caller), id });
  if (tag === undefined) throw missing('assessment tag');
  if (!administers(caller, tag.organization_id)) throw adminsOnly();
  requireVersion(expected, tag.version);
  if (name === tag.name) return { id, name, version: tag.version };
  const renamed = await renameTag(tx, { id, organization: tag.organization_id, name, key: nameKey(name) });
  if (renamed.length === 0) throw nameTaken(name);
  await recordChange(tx, act, {
    action: 'assessment-tag.rename',
    object: ['assessment-tag', id],
    organizationId: tag.organization_id,
    before: { name: tag.name },
    after: { name },
  });
  return { id, name, version: tag.version + 1 };
}

/**
 * Deletes an assessment tag, and with it takes it off every assessment, whose versions stay (docs/companions.md, section 1).
 * @throws Failure `missing` for a tag that is not of the caller's organization, `forbidden` for who is no admin of it,
 *   `changed` for another version than is expected
 */
export async function deleteAssessmentTag(
  tx: Transaction,
  act: Act<Caller>,
  id: number,
  expected?: Expected,
): Promise<void> {
  const { actor: caller } = act;
  const [tag] = await holdTag(reachOfAccount(caller))(tx, { ...reachParameters(caller), id });
  if (tag === undefined) throw missing('assessment tag');
  if (!administers(caller, tag.organization_id))
    throw new Failure('forbidden', 'Only admins of the organization delete assessment tags.');
  requireVersion(expected, tag.version);
  const [tagged] = await taggedAssessments(tx, { id });
  await deleteTag(tx, { id });
  await recordChange(tx, act, {
    action: 'assessment-tag.delete',
    object: ['assessment-tag', id],
    organizationId: tag.organization_id,
    before: { name: tag.name, assessments: tagged?.count ?? 0 },
    after: null,
  });
}

function adminsOnly(): Failure {
  return new Failure('forbidden', 'Only admins of the organization create and update assessment tags.');
}

function nameTaken(name: string): Failure {
  return new Failure('conflict', `An assessment tag named "${name}" exists already in this organization.`, [
    { property: 'name', message: 'exists already', value: name },
  ]);
}
