import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { MAX_DESCRIPTION } from '../../domain/assessments/assessments.ts';
import { changeGroup, createGroupAs, deleteGroup } from '../../domain/assessments/update-group.ts';
import { type AssessmentGroup, groupList, readGroup } from '../../domain/assessments/group-list.ts';
import { ORGANIZATION_UID_PATTERN } from '../../domain/lists/filters.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { MEDIUM_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, nameText, orNull, storedText } from '../../http/schemas.ts';
import { LocationHeader, versioned } from '../../http/etags.ts';
import { idPath, V1_ACCESS } from '../v1-params.ts';

const collection = '/assessment_groups';
const path = `${collection}/:id`;
const ID = 'The id of an assessment group.';
const GroupPath = idPath(ID, 1);
/** One that whoever tries the operations in their order can do without. */
const DeletedGroupPath = idPath(ID, 2);

const GroupBody = Type.Object(
  {
    id: Type.Integer(),
    name: storedText('Web programme'),
    description: storedText('Who plans and runs the web tests.'),
    created_at: DateTime,
    organization_uid: storedText('acme'),
    member_count: Type.Integer({ minimum: 0 }),
    assessment_count: Type.Integer({ minimum: 0 }),
  },
  { title: 'Assessment group' },
);

const description = Type.String({
  maxLength: MAX_DESCRIPTION,
  description: 'Markdown.',
  examples: ['Who plans and runs the web tests.'],
});

const NewGroupBody = Type.Object(
  {
    name: nameText('Mobile programme'),
    description: Type.Optional(description),
    organization_uid: Type.Optional(
      Type.String({
        pattern: ORGANIZATION_UID_PATTERN,
        maxLength: 50,
        description: 'The organization that gets it; staff have to say it.',
        examples: ['acme'],
      }),
    ),
  },
  { title: 'New assessment group' },
);

const GroupChangeBody = Type.Object(
  {
    name: Type.Optional(nameText('Web programme')),
    description: Type.Optional(orNull(description)),
  },
  { title: 'Assessment group change' },
);

const declareListGroups = (context: Context) =>
  listOperation(context, {
    id: 'listAssessmentGroups',
    number: 42,
    summary: 'List assessment groups',
    description:
      'Those of the organization, by name, for admins and staff; for everyone else those that they are a member of.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: groupList,
    filters: { search: 'A part of the name, without regard to case.' },
    usualSort: { order: 'name' },
    schema: GroupBody,
    row: groupBody,
  });

const declareGetGroup = ({ db }: Context) =>
  operation({
    id: 'getAssessmentGroup',
    number: 43,
    summary: 'Get an assessment group',
    description: 'For its members, admins of the organization, and staff.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: GroupPath,
    answers: { 200: { description: 'The assessment group.', schema: GroupBody } },
    versioned: true,
    handler: async ({ caller, params: { id } }) => groupAnswer(await readGroup(db.read, caller, id)),
  });

const declareCreateGroup = ({ clock }: Context) =>
  operation({
    id: 'createAssessmentGroup',
    number: 44,
    summary: 'Create an assessment group',
    description: 'Creates a group without members. For admins.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: NewGroupBody,
    bodyLimit: MEDIUM_BODY,
    inputs: { organization: 'organization_uid' },
    answers: {
      201: {
        description: 'The assessment group was created.',
        schema: GroupBody,
        headers: { Location: LocationHeader },
      },
    },
    versioned: true,
    repeats: true,
    handler: ({ caller, change, body: { organization_uid: organization, ...body } }) =>
      change(async (tx) => {
        const act = { actor: caller, now: clock() };
        const group = await createGroupAs(tx, act, { ...body, organization });
        return groupAnswer(group, { location: `${collection}/${group.id}` });
      }),
  });

const declareUpdateGroup = ({ clock, db }: Context) =>
  operation({
    id: 'updateAssessmentGroup',
    number: 45,
    summary: 'Update an assessment group',
    description: 'What is absent stays. For admins.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: GroupPath,
    body: GroupChangeBody,
    bodyLimit: MEDIUM_BODY,
    answers: { 200: { description: 'The assessment group as it is now.', schema: GroupBody } },
    versioned: true,
    async handler({ caller, expected, params: { id }, body: { name, description: text } }) {
      const act = { actor: caller, now: clock() };
      const change = { name, description: text === null ? '' : text };
      return groupAnswer(await db.write((tx) => changeGroup(tx, act, id, change, expected)));
    },
  });

const declareDeleteGroup = ({ clock, db }: Context) =>
  operation({
    id: 'deleteAssessmentGroup',
    number: 46,
    summary: 'Delete an assessment group',
    description: 'Deletes the group with its memberships; its assessments stay, without a group. For admins.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: DeletedGroupPath,
    answers: { 204: { description: 'The assessment group is deleted.' } },
    versioned: true,
    handler: ({ caller, expected, params: { id } }) =>
      db.write((tx) => deleteGroup(tx, { actor: caller, now: clock() }, id, expected)),
  });

export const ASSESSMENT_GROUP_OPERATIONS = [
  declareListGroups,
  declareGetGroup,
  declareCreateGroup,
  declareUpdateGroup,
  declareDeleteGroup,
];

function groupAnswer(group: AssessmentGroup, more: { location?: string } = {}) {
  return versioned(group.version, groupBody(group), more);
}

function groupBody(group: AssessmentGroup) {
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    created_at: isoTime(group.createdAt),
    organization_uid: group.organizationUid,
    member_count: group.memberCount,
    assessment_count: group.assessmentCount,
  };
}
