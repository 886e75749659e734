import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  type AssessmentView,
  assessmentList,
  readAssessment,
} from '../../domain/assessments/assessment-list.ts';
import {
  changeAssessment,
  createAssessmentAs,
  deleteAssessment,
} from '../../domain/assessments/assessment-changes.ts';
import {
  ASSESSMENT_STATES,
  ASSESSMENT_TYPES,
  ASSESSMENT_UID,
  MAX_DESCRIPTION,
} from '../../domain/assessments/assessments.ts';
import { ORGANIZATION_UID_PATTERN } from '../../domain/shared/filters.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { MEDIUM_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, MAX_RESULTS, MAX_TEXT, nameText, orNull, storedText } from '../../http/schemas.ts';
import { UNKNOWN_ID } from '../../http/validation.ts';
import { LocationHeader, versioned } from '../../http/versions.ts';
import { AssessmentTagBody } from './assessment-tags.ts';
import { V1_ACCESS } from './row-ids.ts';

const collection = '/assessments';
const path = `${collection}/:id`;
const MAX_TAGS = 1_000;

/** What cannot be such an id is one that no assessment has: 404. */
const assessmentPath = (example: string) =>
  Type.Object({
    id: Type.String({
      pattern: ASSESSMENT_UID.source,
      maxLength: 50,
      [UNKNOWN_ID]: '',
      description: 'The id of an assessment.',
      examples: [example],
    }),
  });

export const AssessmentPath = assessmentPath('acme-web-2026');

/** The same, of one that whoever tries the operations in their order can do without. */
const DeletedAssessmentPath = assessmentPath('acme-internal-2025');

const Day = Type.String({ format: 'date', maxLength: 10, examples: ['2026-11-21'] });
const Kind = Type.Enum(ASSESSMENT_TYPES, { type: 'string', examples: ['api'] });
const State = Type.Enum(ASSESSMENT_STATES, { type: 'string', examples: ['active'] });
const GroupId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The assessment group that it belongs to.',
  examples: [1],
});
const Uid = storedText('acme-api-2026');

export const AssessmentBody = Type.Object(
  {
    uid: Uid,
    id: { ...Uid, description: 'The uid.' },
    codename: { ...Uid, description: 'The uid.' },
    name: storedText('Partner API 2026'),
    description: storedText('The API that partners book with, and its sandbox.'),
    type: storedText('api'),
    state: storedText('active'),
    assessment_group_id: orNull(GroupId),
    organization_uid: storedText('acme'),
    tags: Type.Array(AssessmentTagBody, { maxItems: MAX_RESULTS }),
    tag_ids: Type.Array(Type.Integer(), { maxItems: MAX_RESULTS }),
    vulnerability_count: Type.Integer({ minimum: 0 }),
    open_vulnerability_count: Type.Integer({ minimum: 0, description: 'Those that are not closed.' }),
    asset_count: Type.Integer({ minimum: 0 }),
    starts_on: orNull(Day),
    ends_on: orNull(Day),
    created_at: DateTime,
    updated_at: DateTime,
    link: Type.String({ maxLength: MAX_TEXT, examples: ['http://127.0.0.1:8080/assessments/acme-api-2026'] }),
  },
  { title: 'Assessment' },
);

/** Items of a list of tags may be the objects that a GET gives. */
const TagIds = Type.Array(
  Type.Union([
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    Type.Object(
      { id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) },
      { title: 'Assessment tag by id' },
    ),
  ]),
  {
    maxItems: MAX_TAGS,
    description: 'Ids of tags. Together with `tag_list` the tags to be; `[]` clears them.',
    examples: [[1]],
  },
);
const TagNames = Type.Array(
  Type.Union([
    nameText('external'),
    Type.Object({ name: nameText('external') }, { title: 'Assessment tag by name' }),
  ]),
  {
    maxItems: MAX_TAGS,
    description: 'Names of tags, which are created for admins where they are new.',
    examples: [['external']],
  },
);

const description = Type.String({
  maxLength: MAX_DESCRIPTION,
  description: 'Markdown.',
  examples: ['The API that partners book with, and its sandbox.'],
});

const NewAssessmentBody = Type.Object(
  {
    name: nameText('Partner API 2026'),
    uid: Type.Optional(
      Type.String({
        pattern: ASSESSMENT_UID.source,
        maxLength: 50,
        description: 'Ten random characters unless told. It stands in addresses and stays.',
        examples: ['acme-api-2026'],
      }),
    ),
    description: Type.Optional(description),
    type: Type.Optional({ ...Kind, default: 'web' }),
    state: Type.Optional({ ...State, default: 'active' }),
    assessment_group_id: Type.Optional(GroupId),
    starts_on: Type.Optional(Day),
    ends_on: Type.Optional({ ...Day, examples: ['2026-12-18'] }),
    tag_list: Type.Optional(TagNames),
    organization_uid: Type.Optional(
      Type.String({
        pattern: ORGANIZATION_UID_PATTERN,
        maxLength: 50,
        description: 'The organization that gets it; staff have to say it.',
        examples: ['acme'],
      }),
    ),
  },
  { title: 'New assessment' },
);

const AssessmentChangeBody = Type.Object(
  {
    name: Type.Optional(nameText('Web programme 2026')),
    description: Type.Optional(orNull(description)),
    type: Type.Optional(orNull({ ...Kind, examples: ['web'] })),
    state: Type.Optional(orNull(State)),
    assessment_group_id: Type.Optional(orNull(GroupId)),
    starts_on: Type.Optional(orNull(Day)),
    ends_on: Type.Optional(orNull({ ...Day, examples: ['2026-12-18'] })),
    tags: Type.Optional(TagIds),
    tag_list: Type.Optional(TagNames),
  },
  { title: 'Assessment change' },
);

/** The rule's names of what the bodies call otherwise. */
const INPUTS = {
  organization: 'organization_uid',
  groupId: 'assessment_group_id',
  startsOn: 'starts_on',
  endsOn: 'ends_on',
  tagIds: 'tags',
  tagNames: 'tag_list',
};

const declareListAssessments = (context: Context) =>
  listOperation(context, {
    id: 'listAssessments',
    number: 36,
    summary: 'List assessments',
    description:
      'The assessments that you have access to: admins to those of their organization, staff to all that they reach.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: assessmentList,
    filters: {
      groupId: { parameter: 'assessment_group_id', description: 'Of this assessment group.' },
      search: 'A part of the uid or the name, without regard to case.',
      tagId: 'With one of these assessment tags.',
      state: 'In one of these states.',
    },
    sorts: ['createdAt', 'uid', 'name', 'state', 'startsOn', 'endsOn'],
    usualSort: { order: 'createdAt' },
    schema: AssessmentBody,
    row: (assessment) => assessmentBody(assessment, context),
  });

const declareGetAssessment = (context: Context) =>
  operation({
    id: 'getAssessment',
    number: 37,
    summary: 'Get an assessment',
    description: 'For whoever has access to it.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: AssessmentPath,
    answers: { 200: { description: 'The assessment.', schema: AssessmentBody } },
    versioned: true,
    handler: async ({ caller, params: { id: uid } }) =>
      assessmentAnswer(await readAssessment(context.db.read, caller, { uid }), context),
  });

const declareCreateAssessment = (context: Context) =>
  operation({
    id: 'createAssessment',
    number: 38,
    summary: 'Create an assessment',
    description:
      'Creates an assessment, which is a listing of assets as well. For admins, and in an assessment group for its members with the role assessment_creator or rbac_group_admin. Who creates one has access to it.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: NewAssessmentBody,
    bodyLimit: MEDIUM_BODY,
    inputs: INPUTS,
    answers: {
      201: {
        description: 'The assessment was created.',
        schema: AssessmentBody,
        headers: { Location: LocationHeader },
      },
    },
    versioned: true,
    repeats: true,
    handler: ({ caller, change, body }) =>
      change(async (tx) => {
        const act = { actor: caller, now: context.clock() };
        const created = await createAssessmentAs(tx, act, {
          name: body.name,
          uid: body.uid,
          description: body.description,
          type: body.type,
          state: body.state,
          groupId: body.assessment_group_id,
          startsOn: body.starts_on,
          endsOn: body.ends_on,
          tagNames: tagNamesOf(body.tag_list),
          organization: body.organization_uid,
        });
        return assessmentAnswer(created, context, { location: `${collection}/${created.uid}` });
      }),
  });

const declareUpdateAssessment = (context: Context) =>
  operation({
    id: 'updateAssessment',
    number: 39,
    summary: 'Update an assessment',
    description:
      'What is absent stays; `null` resets. Sessions that run end when it is no longer active. For admins, and for who has access and is assessment_operator or rbac_group_admin in its group. To move it to another group needs what creating one there needs.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: AssessmentPath,
    body: AssessmentChangeBody,
    bodyLimit: MEDIUM_BODY,
    inputs: INPUTS,
    answers: { 200: { description: 'The assessment as it is now.', schema: AssessmentBody } },
    versioned: true,
    async handler({ caller, expected, params: { id }, body }) {
      const act = { actor: caller, now: context.clock() };
      const wanted = {
        name: body.name,
        description: body.description === null ? '' : body.description,
        type: body.type === null ? 'web' : body.type,
        state: body.state === null ? 'active' : body.state,
        groupId: body.assessment_group_id,
        startsOn: body.starts_on,
        endsOn: body.ends_on,
        tagIds: body.tags?.map((tag) => (typeof tag === 'object' ? tag.id : tag)),
        tagNames: tagNamesOf(body.tag_list),
      } as const;
      const changed = await context.db.write((tx) => changeAssessment(tx, act, id, wanted, expected));
      return assessmentAnswer(changed, context);
    },
  });

const declareDeleteAssessment = ({ clock, db }: Context) =>
  operation({
    id: 'deleteAssessment',
    number: 84,
    summary: 'Delete an assessment',
    description: 'For admins; not while it has vulnerabilities or testing sessions (409).',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: DeletedAssessmentPath,
    answers: { 204: { description: 'The assessment is deleted.' } },
    versioned: true,
    handler: ({ caller, expected, params: { id } }) =>
      db.write((tx) => deleteAssessment(tx, { actor: caller, now: clock() }, id, expected)),
  });

export const ASSESSMENT_OPERATIONS = [
  declareListAssessments,
  declareGetAssessment,
  declareCreateAssessment,
  declareUpdateAssessment,
  declareDeleteAssessment,
];

function tagNamesOf(items: readonly (string | { name: string })[] | undefined): string[] | undefined {
  return items?.map((tag) => (typeof tag === 'string' ? tag : tag.name));
}

function assessmentAnswer(assessment: AssessmentView, context: Context, more: { location?: string } = {}) {
  return versioned(assessment.version, assessmentBody(assessment, context), more);
}

function assessmentBody(assessment: AssessmentView, { addresses }: Context) {
  const { uid, tags } = assessment;
  return {
    uid,
    id: uid,
    codename: uid,
    name: assessment.name,
    description: assessment.description,
    type: assessment.type,
    state: assessment.state,
    assessment_group_id: assessment.groupId,
    organization_uid: assessment.organizationUid,
    tags: tags.map(({ id, name }) => ({ id, name })),
    tag_ids: tags.map(({ id }) => id),
    vulnerability_count: assessment.vulnerabilityCount,
    open_vulnerability_count: assessment.openVulnerabilityCount,
    asset_count: assessment.assetCount,
    starts_on: assessment.startsOn,
    ends_on: assessment.endsOn,
    created_at: isoTime(assessment.createdAt),
    updated_at: isoTime(assessment.updatedAt),
    link: `${addresses.clientBaseUrl}/assessments/${uid}`,
  };
}
