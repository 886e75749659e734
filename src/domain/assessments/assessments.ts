import type { Act } from '../../auth/callers.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { countUserChange } from '../shared/accounts.ts';
import { recordChange } from '../shared/audit.ts';
import { Failure, invalid, missing } from '../shared/failure.ts';
import { cleanName } from '../shared/names.ts';
import { organizationByUid } from '../organizations/organizations.ts';

/** The form of an assessment's uid, which is V1's `assessment_id` and the asset area's `listingUid`. */
export const ASSESSMENT_UID = /^[-_0-9a-z]{1,50}$/;

export interface NewAssessment {
  uid: string;
  name: string;
  organization: string;
  /** The assessment group that it belongs to. */
  groupId?: number | undefined;
}

export interface Assessment {
  id: number;
  uid: string;
  name: string;
  organization: string;
}

/**
 * Creates an assessment, which is a listing as well.
 * @throws Failure `invalid` for a bad uid or name and an unknown organization or group, `conflict` for a uid in use
 */
export async function createAssessment(
  tx: Transaction,
  act: Act,
  { uid, name, organization: organizationUid, groupId }: NewAssessment,
): Promise<Assessment> {
  if (!ASSESSMENT_UID.test(uid)) {
    throw invalid({
      property: 'uid',
      message: 'must be 1 to 50 lowercase letters, digits, - and _',
      value: uid,
    });
  }
  const clean = cleanName('name', name);
  const organization = await organizationByUid(tx, organizationUid);
  if (organization === undefined) {
    throw invalid({
      property: 'organization',
      message: 'is not the uid of an organization',
      value: organizationUid,
    });
  }
  if (groupId !== undefined) {
    const group = await tx
      .selectFrom('assessment_groups')
      .select('id')
      .where('id', '=', groupId)
      .where('organization_id', '=', organization.id)
      .executeTakeFirst();
    if (group === undefined) {
      throw invalid({
        property: 'groupId',
        message: 'is not an assessment group of the organization',
        value: groupId,
      });
    }
  }
  const row = await tx
    .insertInto('assessments')
    .values({
      uid,
      organization_id: organization.id,
      group_id: groupId ?? null,
      name: clean,
      created_at: act.now,
    })
    .onConflict((conflict) => conflict.column('uid').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw new Failure('conflict', `There is an assessment with the uid ${uid} already.`);
  await recordChange(tx, act, {
    action: 'assessment.create',
    object: ['assessment', uid],
    organizationId: organization.id,
    before: null,
    after: { uid, name: clean, group_id: groupId ?? null },
  });
  return { id: row.id, uid, name: clean, organization: organizationUid };
}

/**
 * Gives a client user access to an assessment of their organization; giving it twice changes nothing.
 * @throws Failure `missing` for either
 */
export async function grantAssessmentAccess(
  tx: Transaction,
  act: Act,
  assessmentUid: string,
  userId: number,
): Promise<void> {
  const found = await tx
    .selectFrom('assessments')
    .innerJoin('users', 'users.organization_id', 'assessments.organization_id')
    .select(['assessments.id', 'assessments.organization_id'])
    .where('assessments.uid', '=', assessmentUid)
    .where('users.id', '=', userId)
    .executeTakeFirst();
  if (found === undefined) throw missing('assessment or the user');
  const granted = await tx
    .insertInto('assessment_access')
    .values({ organization_id: found.organization_id, assessment_id: found.id, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  if (granted === undefined) return;
  await countUserChange(tx, userId);
  await recordChange(tx, act, {
    action: 'assessment.grant',
    object: ['assessment', assessmentUid],
    organizationId: found.organization_id,
    before: null,
    after: { user: userId },
  });
}

/** Takes access to an assessment away again; taking away what is not there changes nothing. */
export async function revokeAssessmentAccess(
  tx: Transaction,
  act: Act,
  assessment: { id: number; uid: string; organizationId: number },
  userId: number,
): Promise<void> {
  const revoked = await tx
    .deleteFrom('assessment_access')
    .where('assessment_id', '=', assessment.id)
    .where('user_id', '=', userId)
    .returning('user_id')
    .executeTakeFirst();
  if (revoked === undefined) return;
  await countUserChange(tx, userId);
  await recordChange(tx, act, {
    action: 'assessment.revoke',
    object: ['assessment', assessment.uid],
    organizationId: assessment.organizationId,
    before: { user: userId },
    after: null,
  });
}

/** @returns every assessment, oldest first */
export function listAssessments(db: Reader): Promise<Assessment[]> {
  return db
    .selectFrom('assessments')
    .innerJoin('organizations', 'organizations.id', 'assessments.organization_id')
    .select(['assessments.id', 'assessments.uid', 'assessments.name', 'organizations.uid as organization'])
    .orderBy('assessments.id')
    .execute();
}
