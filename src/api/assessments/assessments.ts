import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  type AssessmentView,
  assessmentList,
  readAssessment,
} from '../../domain/assessments/assessment-list.ts';
import { updateAssessment, deleteAssessment } from '../../domain/assessments/update-assessment.ts';
import { createAssessment, validateAssessment } from '../../domain/assessments/create-assessment.ts';
import { MEDIUM_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { LocationHeader } from '../../http/etags.ts';
import { versionedResult } from '../../http/operation-result.ts';
import {
  AssessmentSchema,
  toAssessmentBody,
  UpdateAssessmentSchema,
  AssessmentParamsSchema,
  DeleteAssessmentParamsSchema,
  NewAssessmentSchema,
  tagNamesOf,
} from './assessment-schema.ts';
import { V1_ACCESS } from '../v1-params.ts';

const collection = '/assessments';
const path = `${collection}/:id`;
/** Maps the names of the rules' inputs to those of the bodies. */
const INPUTS = {
  organization: 'organization_uid',
  groupId: 'assessment_group_id',
  startsOn: 'starts_on',
  endsOn: 'ends_on',
  tagIds: 'tags',
  tagNames: 'tag_list',
};

type DatesBody = {
  readonly starts_on?: string | null | undefined;
  readonly ends_on?: string | null | undefined;
};

const datesOf = ({ starts_on: startsOn, ends_on: endsOn }: DatesBody) => ({ startsOn, endsOn });

const INCLUDE_PERMISSIONS =
  "Whether to return `permissions`: what the caller's roles in the assessment permit.";

const listAssessmentsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAssessments',
    number: 36,
    summary: 'List assessments',
    description:
      'Lists the assessments that the caller has access to: for admins, those of their organization; for staff, those of every organization they can access.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: assessmentList,
    filters: {
      groupId: { parameter: 'assessment_group_id', description: 'Return only assessments of these groups.' },
      search: 'Return only assessments whose uid or name contains this text, ignoring case.',
      tagId: 'Return only assessments with one of these tags.',
      state: 'Return only assessments in one of these states.',
      includePermissions: { parameter: 'include_permissions', description: INCLUDE_PERMISSIONS },
    },
    sorts: ['createdAt', 'uid', 'name', 'state', 'startsOn', 'endsOn'],
    defaultSort: { sort: 'createdAt' },
    schema: AssessmentSchema,
    toRow: ({ includePermissions: withPermissions, ...assessment }) =>
      toAssessmentBody(assessment, context, { withPermissions }),
  });

const getAssessmentOperation = (context: Context) =>
  operation({
    id: 'getAssessment',
    number: 37,
    summary: 'Get an assessment',
    description: 'Requires access to the assessment.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: AssessmentParamsSchema,
    query: Type.Object({
      include_permissions: Type.Optional(Type.Boolean({ description: INCLUDE_PERMISSIONS })),
    }),
    responses: { 200: { description: 'The assessment.', schema: AssessmentSchema } },
    versioned: true,
    async handler({ caller, params: { id: uid }, query: { include_permissions: withPermissions = false } }) {
      const assessment = await readAssessment(context.db.read, caller, { uid });
      return versionedResult(assessment.version, toAssessmentBody(assessment, context, { withPermissions }));
    },
  });

const createAssessmentOperation = (context: Context) =>
  operation({
    id: 'createAssessment',
    number: 38,
    summary: 'Create an assessment',
    description:
      'Creates an assessment, which is also a listing of assets. Requires an admin; in an assessment group, its members with the role `assessment_creator` or `rbac_group_admin` can create assessments too. The caller gets access to the assessment.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: NewAssessmentSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    inputs: INPUTS,
    validate: ({ name, ...body }) => validateAssessment({ name, ...datesOf(body) }),
    responses: {
      201: {
        description: 'The created assessment.',
        schema: AssessmentSchema,
        headers: { Location: LocationHeader },
      },
    },
    versioned: true,
    idempotency: true,
    handler: ({ caller, writeOnce, body }) =>
      writeOnce(async (tx) => {
        const by = { actor: caller, now: context.clock() };
        const created = await createAssessment(tx, by, {
          name: body.name,
          uid: body.uid,
          description: body.description,
          type: body.type,
          state: body.state,
          drafts: body.drafts,
          groupId: body.assessment_group_id,
          ...datesOf(body),
          tagNames: tagNamesOf(body.tag_list),
          organization: body.organization_uid,
        });
        return toAssessmentResult(created, context, { location: `${collection}/${created.uid}` });
      }),
  });

const updateAssessmentOperation = (context: Context) =>
  operation({
    id: 'updateAssessment',
    number: 39,
    summary: 'Update an assessment',
    description:
      'An absent property is unchanged; `null` resets it. Running testing sessions end when the assessment stops being active. Requires an admin, or a user with access who has the role `assessment_operator` or `rbac_group_admin` in its group. Moving it to another group requires permission to create assessments there.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: AssessmentParamsSchema,
    body: UpdateAssessmentSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    inputs: INPUTS,
    // The rule for the name depends on the stored one.
    validate: (body) => validateAssessment(datesOf(body)),
    responses: { 200: { description: 'The updated assessment.', schema: AssessmentSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params: { id }, body, write }) {
      const by = { actor: caller, now: context.clock() };
      const change = {
        name: body.name,
        description: body.description === null ? '' : body.description,
        type: body.type === null ? 'web' : body.type,
        state: body.state === null ? 'active' : body.state,
        drafts: body.drafts,
        groupId: body.assessment_group_id,
        ...datesOf(body),
        tagIds: body.tags?.map((tag) => (typeof tag === 'object' ? tag.id : tag)),
        tagNames: tagNamesOf(body.tag_list),
      } as const;
      const changed = await write((tx) => updateAssessment(tx, by, id, change, ifMatch));
      return toAssessmentResult(changed, context);
    },
  });

const deleteAssessmentOperation = ({ clock }: Context) =>
  operation({
    id: 'deleteAssessment',
    number: 84,
    summary: 'Delete an assessment',
    description:
      'Requires an admin. Returns 409 while the assessment has vulnerabilities, testing sessions, or imports that were not undone.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: DeleteAssessmentParamsSchema,
    responses: { 204: { description: 'The assessment was deleted.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { id }, write }) =>
      write((tx) => deleteAssessment(tx, { actor: caller, now: clock() }, id, ifMatch)),
  });

export default operationsOf('v1', [
  listAssessmentsOperation,
  getAssessmentOperation,
  createAssessmentOperation,
  updateAssessmentOperation,
  deleteAssessmentOperation,
]);

function toAssessmentResult(
  assessment: AssessmentView,
  context: Context,
  headers: { location?: string } = {},
) {
  return versionedResult(assessment.version, toAssessmentBody(assessment, context), headers);
}
