import type { Attribution, Caller } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { resolveTargetOrganization } from '../organizations/resolve-organization.ts';
import { DomainError, invalidInput } from '../shared/errors.ts';
import { validateName } from '../shared/names.ts';
import { requireCanCreate } from './assessment-permissions.ts';
import { type AssessmentView, readAssessment } from './assessment-list.ts';
import {
  resolveAssessmentTags,
  replaceAssessmentTags,
  type TagSelection,
  validateTagNames,
} from './tag-assessment.ts';
import {
  type AssessmentFields,
  validateDates,
  grantAssessmentAccess,
  insertAssessment,
} from './assessments.ts';

/** An assessment that somebody creates. */
export interface AssessmentInput extends AssessmentFields, Pick<TagSelection, 'tagNames'> {
  name: string;
  /** Absent: ten random characters. */
  uid?: string | undefined;
  /** The uid of the organization, which staff have to name. */
  organization?: string | undefined;
}

/**
 * Creates an assessment (operation 38); its creator has access to it.
 * @throws Failure `invalid` for what is wrong or unknown, `forbidden` for who is neither an admin nor has the role in
 *   the group that is named, `conflict` for a uid in use
 */
export async function createAssessment(
  tx: Transaction,
  act: Attribution<Caller>,
  input: AssessmentInput,
): Promise<AssessmentView> {
  const { actor: caller } = act;
  validateAssessmentForm(input);
  const { organization: organizationUid, groupId = null, tagNames, ...members } = input;
  const isAdmin = caller.admin || caller.staff;
  if (!isAdmin && groupId === null)
    throw new DomainError(
      'forbidden',
      'Only admins create assessments, and members with the role for it in the group that they name.',
    );
  const organization = await resolveTargetOrganization(tx, caller, { uid: organizationUid });
  if (groupId !== null) await requireCanCreate(tx, caller, organization.id, groupId);
  const tags = (await resolveAssessmentTags(tx, act, organization.id, { tagNames }, isAdmin)) ?? [];
  const { id, uid } = await insertAssessment(tx, act, {
    ...members,
    groupId,
    organizationId: organization.id,
    tags: tags.map((tag) => tag.id),
  });
  await replaceAssessmentTags(tx, { id, organizationId: organization.id }, [], tags);
  if (caller.userId !== null && caller.organizationId !== null)
    await grantAssessmentAccess(tx, act, uid, caller.userId);
  return readAssessment(tx, caller, { id });
}

/** @throws Failure `invalid` for what no assessment can be called, have as a tag or last, before the database is asked */
export function validateAssessmentForm(
  input: AssessmentFields & TagSelection & { name?: string | undefined },
): void {
  const { name } = input;
  const faults = [
    ...(name === undefined ? [] : [validateName('name', name) ?? []].flat()),
    ...validateTagNames(input),
    ...validateDates(input),
  ];
  if (faults.length > 0) throw invalidInput(faults);
}
