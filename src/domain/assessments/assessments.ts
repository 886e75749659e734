import { randomInt } from 'node:crypto';
import type { Attribution } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { bumpUserVersion } from '../shared/account-rights.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, type FieldError, invalidInput, notFound } from '../shared/errors.ts';
import { normalizeForSearch } from '../lists/filters.ts';
import { requireName } from '../shared/names.ts';
import { isCalendarDate } from '../shared/time.ts';
import { organizationByUid } from '../organizations/organizations.ts';

/** The form of an assessment's uid, which is V1's `assessment_id` and the asset area's `listingUid`. */
export const ASSESSMENT_UID = /^[-_0-9a-z]{1,50}$/;

export const ASSESSMENT_TYPES = ['web', 'host', 'api', 'mobile'] as const;
export type AssessmentType = (typeof ASSESSMENT_TYPES)[number];
export const ASSESSMENT_STATES = ['pending', 'active', 'paused', 'completed'] as const;
export type AssessmentState = (typeof ASSESSMENT_STATES)[number];

export const MAX_DESCRIPTION = 65_536;

/** What can be said of an assessment at any time; what is absent has its default in a new one, and stays in another. */
export interface AssessmentFields {
  description?: string | undefined;
  type?: AssessmentType | undefined;
  state?: AssessmentState | undefined;
  /** The assessment group that it belongs to. */
  groupId?: number | null | undefined;
  /** Days, as `2026-11-22`. */
  startsOn?: string | null | undefined;
  endsOn?: string | null | undefined;
}

export interface NewAssessment extends AssessmentFields {
  /** Absent: ten random characters. */
  uid?: string | undefined;
  name: string;
  organization: string;
}

export interface Assessment {
  id: number;
  uid: string;
  name: string;
  organization: string;
}

/**
 * Creates an assessment, which is a listing as well.
 * @throws Failure `invalid` for a bad uid, name or day and an unknown organization or group, `conflict` for a uid in use
 */
export async function createAssessmentUnchecked(
  tx: Transaction,
  act: Attribution,
  { organization: organizationUid, ...input }: NewAssessment,
): Promise<Assessment> {
  const organization = await organizationByUid(tx, organizationUid);
  if (organization === undefined) {
    throw invalidInput({
      property: 'organization',
      message: 'is not the uid of an organization',
      value: organizationUid,
    });
  }
  const { groupId } = input;
  if (groupId !== undefined && groupId !== null) await requireGroup(tx, organization.id, groupId);
  const { id, uid, name } = await insertAssessment(tx, act, { ...input, organizationId: organization.id });
  return { id, uid, name, organization: organizationUid };
}

/** @throws Failure `invalid` for a group that is not of the organization */
async function requireGroup(db: ReadConnection, organizationId: number, groupId: number): Promise<void> {
  const group = await db
    .selectFrom('assessment_groups')
    .select('id')
    .where('id', '=', groupId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (group === undefined) throw unknownGroupError(groupId);
}

export function unknownGroupError(groupId: number): DomainError {
  return invalidInput({
    property: 'groupId',
    message: 'is not an assessment group of the organization',
    value: groupId,
  });
}

const UID_LETTERS = '0123456789abcdefghijklmnopqrstuvwxyz';

function newUid(): string {
  return Array.from({ length: 10 }, () => UID_LETTERS[randomInt(UID_LETTERS.length)]).join('');
}

/**
 * Makes an assessment in an organization and a group that the caller of this knows.
 * @param input `tags` are ids of tags of the organization
 * @throws Failure `invalid` for a bad uid, name or day, `conflict` for a uid in use
 */
export async function insertAssessment(
  tx: Transaction,
  act: Attribution,
  input: Omit<NewAssessment, 'organization'> & { organizationId: number; tags?: readonly number[] },
): Promise<{ id: number; uid: string; name: string }> {
  const { uid = newUid(), organizationId, tags = [] } = input;
  const { type = 'web', state = 'active', startsOn = null, endsOn = null } = input;
  if (!ASSESSMENT_UID.test(uid)) {
    throw invalidInput({
      property: 'uid',
      message: 'must be 1 to 50 lowercase letters, digits, - and _',
      value: uid,
    });
  }
  const name = requireName('name', input.name);
  const faults = validateDates({ startsOn, endsOn });
  if (faults.length > 0) throw invalidInput(faults);
  const values = {
    name,
    description: input.description ?? '',
    type,
    state,
    group_id: input.groupId ?? null,
    starts_on: startsOn,
    ends_on: endsOn,
  };
  const row = await tx
    .insertInto('assessments')
    .values({
      uid,
      organization_id: organizationId,
      ...values,
      name_key: normalizeForSearch(name),
      created_at: act.now,
      updated_at: act.now,
    })
    .onConflict((conflict) => conflict.column('uid').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) {
    throw new DomainError('conflict', `There is an assessment with the uid ${uid} already.`, [
      { property: 'uid', message: 'is taken already', value: uid },
    ]);
  }
  await recordEvent(tx, act, {
    action: 'assessment.create',
    object: ['assessment', uid],
    organizationId,
    before: null,
    after: { uid, ...values, tags },
  });
  return { id: row.id, uid, name };
}

/** @returns what is wrong with the days of an assessment */
export function validateDates({
  startsOn,
  endsOn,
}: Pick<AssessmentFields, 'startsOn' | 'endsOn'>): FieldError[] {
  const faults = Object.entries({ startsOn, endsOn }).flatMap(([property, value]) =>
    typeof value !== 'string' || isCalendarDate(value)
      ? []
      : [{ property, message: 'must be a day such as 2026-11-21', value }],
  );
  if (faults.length > 0 || typeof startsOn !== 'string' || typeof endsOn !== 'string' || endsOn >= startsOn)
    return faults;
  return [{ property: 'endsOn', message: 'must not be before startsOn', value: endsOn, other: 'startsOn' }];
}

/**
 * Gives a client user access to an assessment of their organization; giving it twice changes nothing.
 * @throws Failure `missing` for either
 */
export async function grantAssessmentAccess(
  tx: Transaction,
  act: Attribution,
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
  if (found === undefined) throw notFound('assessment or the user');
  const granted = await tx
    .insertInto('assessment_access')
    .values({ organization_id: found.organization_id, assessment_id: found.id, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  if (granted === undefined) return;
  await bumpUserVersion(tx, userId);
  await recordEvent(tx, act, {
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
  act: Attribution,
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
  await bumpUserVersion(tx, userId);
  await recordEvent(tx, act, {
    action: 'assessment.revoke',
    object: ['assessment', assessment.uid],
    organizationId: assessment.organizationId,
    before: { user: userId },
    after: null,
  });
}

/** @returns every assessment, oldest first */
export function listAssessments(db: ReadConnection): Promise<Assessment[]> {
  return db
    .selectFrom('assessments')
    .innerJoin('organizations', 'organizations.id', 'assessments.organization_id')
    .select(['assessments.id', 'assessments.uid', 'assessments.name', 'organizations.uid as organization'])
    .orderBy('assessments.id')
    .execute();
}
