import { type ChangeContext, isAdminOf, type Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { prepareQuery, preparePipelined, prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { ASSESSMENT_UID } from './assessments.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { requireName } from '../shared/names.ts';
import { renameTag, tagExistsError } from '../shared/rename-tag.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import {
  inAccessibleOrganization,
  assessmentIsVisible,
  memoizeByVisibility,
  visibilityOf,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';
import { foldName } from '../../lib/fold-case.ts';
import { memoizeByLock } from '../shared/lock-rows.ts';
import { forNoKeyUpdate, forUpdate } from '../../db/dialect-sql.ts';

export interface AssessmentTag {
  id: number;
  name: string;
  version: number;
}

export interface NewAssessmentTag {
  name: string;
  /** The uid of an assessment. */
  assessment: string;
}

interface Assessment {
  id: number;
  organization_id: number;
}

const selectVisibleAssessment = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { uid: string }, Assessment>((db, p) =>
    db
      .selectFrom('assessments')
      .select(['assessments.id', 'assessments.organization_id'])
      .where('assessments.uid', '=', p.uid)
      .where(assessmentIsVisible(visibility, p)),
  ),
);

/** Locks a tag, so that the audit log is exact. */
const lockTag = memoizeByLock((lock) =>
  memoizeByVisibility((visibility) =>
    prepareWrite((tx, p: VisibilityParameters & { id: number }) =>
      tx
        .selectFrom('assessment_tags')
        .where('id', '=', p.id)
        .where((eb) => inAccessibleOrganization(visibility, eb.ref('organization_id'), p))
        .select(['id', 'organization_id', 'name', 'version'])
        .modifyEnd(lock(tx)),
    ),
  ),
);

const insertTag = prepareWrite<
  { organization: number; name: string; key: string },
  { id: number; version: number }
>((tx, p) =>
  tx
    .insertInto('assessment_tags')
    .values({ organization_id: p.organization, name: p.name, normalized_name: p.key })
    .onConflict((conflict) => conflict.columns(['organization_id', 'normalized_name']).doNothing())
    .returning(['id', 'version']),
);

const insertTagging = preparePipelined<{ organization: number; assessment: number; tag: number }>((tx, p) =>
  tx
    .insertInto('assessment_taggings')
    .values({ organization_id: p.organization, assessment_id: p.assessment, tag_id: p.tag }),
);

const countTaggedAssessments = prepareQuery<{ id: number }, { count: number }>((db, p) =>
  db
    .selectFrom('assessment_taggings')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tag_id', '=', p.id),
);

const deleteTag = preparePipelined<{ id: number }>((tx, p) =>
  tx.deleteFrom('assessment_tags').where('id', '=', p.id),
);

/** The response of an assessment includes its tags. */
const bumpAssessmentVersion = preparePipelined<{ assessment: number; now: number }>((tx, p) =>
  tx
    .updateTable('assessments')
    .set((eb) => ({ updated_at: p.now, version: eb('version', '+', eb.lit(1)) }))
    .where('id', '=', p.assessment),
);

/**
 * Creates an assessment tag and adds it to an assessment.
 * @throws DomainError `invalid` for a bad name, `not-found` for the assessment, `forbidden` unless the caller is an
 *   admin of its organization, `conflict` for a name that exists
 */
export async function createAssessmentTag(
  tx: Transaction,
  by: ChangeContext<Caller>,
  input: NewAssessmentTag,
): Promise<AssessmentTag> {
  const { actor: caller } = by;
  const name = requireName('name', input.name);
  const [assessment] = ASSESSMENT_UID.test(input.assessment)
    ? await selectVisibleAssessment(visibilityOf(caller, 'read'))(tx, {
        ...visibilityParameters(caller),
        uid: input.assessment,
      })
    : [];
  if (assessment === undefined) throw notFound('assessment');
  if (!isAdminOf(caller, assessment.organization_id)) throw adminsOnlyError();
  // The assessment is locked before a tag is created, as in operation 39.
  await bumpAssessmentVersion(tx, { assessment: assessment.id, now: by.now });
  const [tag] = await insertTag(tx, { organization: assessment.organization_id, name, key: foldName(name) });
  if (tag === undefined) throw tagExistsError('assessment-tag', name);
  await insertTagging(tx, {
    organization: assessment.organization_id,
    assessment: assessment.id,
    tag: tag.id,
  });
  await recordEvent(tx, by, {
    action: 'assessment-tag.create',
    object: ['assessment-tag', tag.id],
    organizationId: assessment.organization_id,
    before: null,
    after: { name, assessment: input.assessment },
  });
  return { id: tag.id, name, version: tag.version };
}

/**
 * @throws DomainError `invalid` for a bad name, `not-found`, `forbidden` unless the caller is an admin,
 *   `version-mismatch`, `conflict` for a name that another tag has
 */
export async function renameAssessmentTag(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
  newName: string,
  expected?: ExpectedVersion,
): Promise<AssessmentTag> {
  const { actor: caller } = by;
  const name = requireName('name', newName);
  const [tag] = await lockTag(forNoKeyUpdate)(visibilityOf(caller))(tx, {
    ...visibilityParameters(caller),
    id,
  });
  if (tag === undefined) throw notFound('assessment tag');
  if (!isAdminOf(caller, tag.organization_id)) throw adminsOnlyError();
  requireVersion(expected, tag.version);
  if (name === tag.name) return { id, name, version: tag.version };
  await renameTag(tx, 'assessment-tag', tag, name);
  await recordEvent(tx, by, {
    action: 'assessment-tag.rename',
    object: ['assessment-tag', id],
    organizationId: tag.organization_id,
    before: { name: tag.name },
    after: { name },
  });
  return { id, name, version: tag.version + 1 };
}

/**
 * Deletes a tag and removes it from every assessment, whose versions stay (docs/companions.md, section 3).
 * @throws DomainError `not-found`, `forbidden` unless the caller is an admin, `version-mismatch`
 */
export async function deleteAssessmentTag(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
  expected?: ExpectedVersion,
): Promise<void> {
  const { actor: caller } = by;
  const [tag] = await lockTag(forUpdate)(visibilityOf(caller))(tx, { ...visibilityParameters(caller), id });
  if (tag === undefined) throw notFound('assessment tag');
  if (!isAdminOf(caller, tag.organization_id)) throw new DomainError('assessment-tag-delete-admins-only');
  requireVersion(expected, tag.version);
  const [tagged] = await countTaggedAssessments(tx, { id });
  await deleteTag(tx, { id });
  await recordEvent(tx, by, {
    action: 'assessment-tag.delete',
    object: ['assessment-tag', id],
    organizationId: tag.organization_id,
    before: { name: tag.name, assessments: tagged?.count ?? 0 },
    after: null,
  });
}

function adminsOnlyError(): DomainError {
  return new DomainError('assessment-tag-update-admins-only');
}
