import type { ChangeContext, Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { selectOrganization } from '../organizations/select-organization.ts';
import { insertWithUniqueUid, randomUid } from '../organizations/unique-uids.ts';
import { DomainError, type FieldError, invalidInput } from '../shared/errors.ts';
import { recordEvent } from '../audit/record-event.ts';
import { validateName } from '../shared/names.ts';
import { requireCanCreate, requireDraftPolicyRight } from './assessment-permissions.ts';
import { type AssessmentView, readAssessment } from './assessment-list.ts';
import {
  resolveAssessmentTags,
  replaceAssessmentTags,
  type TagSelection,
  validateTagNames,
} from './tag-assessment.ts';
import { grantAssessmentAccess } from './assessment-access.ts';
import { ASSESSMENT_UID, type AssessmentFields, validateDates } from './assessments.ts';
import { foldCase } from '../../lib/fold-case.ts';

export interface AssessmentInput extends AssessmentFields, Pick<TagSelection, 'tagNames'> {
  name: string;
  /** Absent: ten random characters. For callers who do not see every organization, only its beginning. */
  uid?: string | undefined;
  /** A uid; required for staff. */
  organization?: string | undefined;
}

/**
 * Creates an assessment and grants its creator access (operation 38).
 * @throws DomainError `invalid`, `forbidden` unless the caller is an admin or has the role in the group, `conflict`
 *   for a uid in use if the caller sees every organization
 */
export async function createAssessment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  input: AssessmentInput,
): Promise<AssessmentView> {
  const { actor: caller } = by;
  requireValidAssessment(input);
  const { organization: organizationUid, groupId = null, tagNames, ...fields } = input;
  const isAdmin = caller.admin || caller.staff;
  requireDraftPolicyRight(caller, 'off', fields.drafts);
  if (!isAdmin && groupId === null) throw new DomainError('assessment-create');
  const organization = await selectOrganization(tx, caller, { uid: organizationUid });
  if (groupId !== null) await requireCanCreate(tx, caller, organization.id, groupId);
  const tags = (await resolveAssessmentTags(tx, by, organization.id, { tagNames }, isAdmin)) ?? [];
  const { id, uid } = await insertAssessment(tx, by, {
    ...fields,
    groupId,
    organizationId: organization.id,
    tags: tags.map((tag) => tag.id),
  });
  await replaceAssessmentTags(tx, { id, organizationId: organization.id }, [], tags);
  if (caller.userId !== null && caller.organizationId !== null)
    await grantAssessmentAccess(tx, by, uid, caller.userId);
  return readAssessment(tx, caller, { id });
}

/** @param input validated but for the uid; `tags` are ids */
async function insertAssessment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  input: Omit<AssessmentInput, 'organization' | 'tagNames'> & {
    organizationId: number;
    tags: readonly number[];
  },
): Promise<{ id: number; uid: string }> {
  const { uid: requestedUid = randomUid(10), organizationId, tags } = input;
  const { type = 'web', state = 'active', drafts = 'off', startsOn = null, endsOn = null } = input;
  if (!ASSESSMENT_UID.test(requestedUid)) {
    throw invalidInput({ property: 'uid', code: 'bad-assessment-uid', value: requestedUid });
  }
  const name = input.name.trim();
  const values = {
    name,
    description: input.description ?? '',
    type,
    state,
    drafts,
    group_id: input.groupId ?? null,
    starts_on: startsOn,
    ends_on: endsOn,
  };
  const insert = (uid: string) =>
    tx
      .insertInto('assessments')
      .values({
        uid,
        organization_id: organizationId,
        ...values,
        search_name: foldCase(name),
        created_by: by.actor.userId,
        created_at: by.now,
        updated_at: by.now,
      })
      .onConflict((conflict) => conflict.column('uid').doNothing())
      .returning(['id', 'uid'])
      .executeTakeFirst();
  const row = await (input.uid === undefined
    ? insert(requestedUid)
    : insertWithUniqueUid(by.actor, requestedUid, '-', insert));
  if (row === undefined) {
    throw new DomainError('assessment-uid-taken', { uid: requestedUid }, [
      { property: 'uid', code: 'taken', value: requestedUid },
    ]);
  }
  const { uid } = row;
  await recordEvent(tx, by, {
    action: 'assessment.create',
    object: ['assessment', uid],
    organizationId,
    before: null,
    after: { uid, ...values, tags },
  });
  return row;
}

type AssessmentForm = AssessmentFields & TagSelection & { name?: string | undefined };

/** @returns the errors that are found without a query */
export function validateAssessment(input: AssessmentForm): FieldError[] {
  const { name } = input;
  return [
    ...(name === undefined ? [] : [validateName('name', name) ?? []].flat()),
    ...validateTagNames(input),
    ...validateDates(input),
  ];
}

/** @throws DomainError `invalid` for the errors of `validateAssessment` */
export function requireValidAssessment(input: AssessmentForm): void {
  const errors = validateAssessment(input);
  if (errors.length > 0) throw invalidInput(errors);
}
