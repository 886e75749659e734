import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { MAX_DESCRIPTION } from '../../domain/assessments/assessments.ts';
import { updateGroup, createGroup, deleteGroup } from '../../domain/assessments/update-group.ts';
import { type AssessmentGroup, groupList, readGroup } from '../../domain/assessments/group-list.ts';
import { ORGANIZATION_UID_PATTERN } from '../../domain/lists/filters.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { MEDIUM_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { DateTimeSchema, nameSchema, nullable, textSchema } from '../../http/schemas.ts';
import { LocationHeader } from '../../http/etags.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';

const collection = '/assessment_groups';
const path = `${collection}/:id`;
const ID_DESCRIPTION = 'The id of an assessment group.';
const GroupParamsSchema = idParams(ID_DESCRIPTION, 1);
/** An example that can be deleted without breaking the examples of later operations. */
const DeletedGroupParamsSchema = idParams(ID_DESCRIPTION, 2);

const GroupSchema = Type.Object(
  {
    id: Type.Integer(),
    name: textSchema('Web programme'),
    description: textSchema('Who plans and runs the web tests.'),
    created_at: DateTimeSchema,
    organization_uid: textSchema('acme'),
    member_count: Type.Integer({ minimum: 0 }),
    assessment_count: Type.Integer({ minimum: 0 }),
  },
  { title: 'Assessment group' },
);

const descriptionSchema = Type.String({
  maxLength: MAX_DESCRIPTION,
  description: 'Markdown.',
  examples: ['Who plans and runs the web tests.'],
});

const NewGroupSchema = Type.Object(
  {
    name: nameSchema('Mobile programme'),
    description: Type.Optional(descriptionSchema),
    organization_uid: Type.Optional(
      Type.String({
        pattern: ORGANIZATION_UID_PATTERN,
        maxLength: 50,
        description: 'The uid of the organization to create the assessment group in. Required for staff.',
        examples: ['acme'],
      }),
    ),
  },
  { title: 'New assessment group' },
);

const UpdateGroupSchema = Type.Object(
  {
    name: Type.Optional(nameSchema('Web programme')),
    description: Type.Optional(nullable(descriptionSchema)),
  },
  { title: 'Assessment group change' },
);

const listAssessmentGroupsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAssessmentGroups',
    number: 42,
    summary: 'List assessment groups',
    description:
      'Lists the assessment groups of the organization by name. Admins and staff get all of them, other users those that they are members of.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: groupList,
    filters: { search: 'Return only assessment groups whose name contains this text, ignoring case.' },
    defaultSort: { sort: 'name' },
    schema: GroupSchema,
    toRow: toGroupBody,
  });

const getAssessmentGroupOperation = ({ db }: Context) =>
  operation({
    id: 'getAssessmentGroup',
    number: 43,
    summary: 'Get an assessment group',
    description: 'Requires membership of the group, an organization admin, or staff.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: GroupParamsSchema,
    responses: { 200: { description: 'The assessment group.', schema: GroupSchema } },
    versioned: true,
    handler: async ({ caller, params: { id } }) => toGroupResult(await readGroup(db.read, caller, id)),
  });

const createAssessmentGroupOperation = ({ clock }: Context) =>
  operation({
    id: 'createAssessmentGroup',
    number: 44,
    summary: 'Create an assessment group',
    description: 'Creates an assessment group without members. Requires an admin.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: NewGroupSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    inputs: { organization: 'organization_uid' },
    responses: {
      201: {
        description: 'The created assessment group.',
        schema: GroupSchema,
        headers: { Location: LocationHeader },
      },
    },
    versioned: true,
    idempotency: true,
    handler: ({ caller, writeOnce, body: { organization_uid: organization, ...body } }) =>
      writeOnce(async (tx) => {
        const by = { actor: caller, now: clock() };
        const group = await createGroup(tx, by, { ...body, organization });
        return toGroupResult(group, { location: `${collection}/${group.id}` });
      }),
  });

const updateAssessmentGroupOperation = ({ clock }: Context) =>
  operation({
    id: 'updateAssessmentGroup',
    number: 45,
    summary: 'Update an assessment group',
    description: 'An absent property is unchanged. Requires an admin.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: GroupParamsSchema,
    body: UpdateGroupSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    responses: { 200: { description: 'The updated assessment group.', schema: GroupSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params: { id }, body: { name, description: text }, write }) {
      const by = { actor: caller, now: clock() };
      const change = { name, description: text === null ? '' : text };
      return toGroupResult(await write((tx) => updateGroup(tx, by, id, change, ifMatch)));
    },
  });

const deleteAssessmentGroupOperation = ({ clock }: Context) =>
  operation({
    id: 'deleteAssessmentGroup',
    number: 46,
    summary: 'Delete an assessment group',
    description:
      'Deletes the assessment group and its memberships. Its assessments remain without a group. Requires an admin.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: DeletedGroupParamsSchema,
    responses: { 204: { description: 'The assessment group was deleted.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { id }, write }) =>
      write((tx) => deleteGroup(tx, { actor: caller, now: clock() }, id, ifMatch)),
  });

export default operationsOf('v1', [
  listAssessmentGroupsOperation,
  getAssessmentGroupOperation,
  createAssessmentGroupOperation,
  updateAssessmentGroupOperation,
  deleteAssessmentGroupOperation,
]);

function toGroupResult(group: AssessmentGroup, headers: { location?: string } = {}) {
  return versionedResult(group.version, toGroupBody(group), headers);
}

function toGroupBody(group: AssessmentGroup) {
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    created_at: formatTimestamp(group.createdAt),
    organization_uid: group.organizationUid,
    member_count: group.memberCount,
    assessment_count: group.assessmentCount,
  };
}
