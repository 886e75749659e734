import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import {
  type AssessmentTag,
  createAssessmentTagAs,
  deleteAssessmentTag,
  renameAssessmentTag,
} from '../../domain/assessments/assessment-tags.ts';
import { assessmentTagList } from '../../domain/assessments/assessment-tag-list.ts';
import { SMALL_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { MAX_TEXT, nameText, storedText } from '../../http/schemas.ts';
import { versioned } from '../../http/etags.ts';
import { idPath, V1_ACCESS } from '../v1-params.ts';
import { RenameBody } from '../v1/tag-names.ts';

const CreateBody = Type.Object(
  {
    name: nameText('retest 2027'),
    assessment_id: Type.String({
      maxLength: MAX_TEXT,
      description: 'The assessment that gets the tag.',
      examples: ['acme-web-2026'],
    }),
  },
  { title: 'New assessment tag' },
);

export const AssessmentTagBody = Type.Object(
  {
    id: Type.Integer(),
    name: storedText('external'),
  },
  { title: 'Assessment tag' },
);

const declareCreateAssessmentTag = ({ clock }: Context) =>
  operation({
    id: 'createAssessmentTag',
    number: 3,
    summary: 'Create an assessment tag',
    description: 'Creates a tag and puts it on the assessment. For organization admins.',
    method: 'POST',
    path: '/assessment_tags',
    access: V1_ACCESS,
    body: CreateBody,
    bodyLimit: SMALL_BODY,
    answers: { 201: { description: 'The tag was created.', schema: AssessmentTagBody } },
    versioned: true,
    repeats: true,
    handler: ({ caller, change, body: { name, assessment_id: assessment } }) =>
      change(async (tx) =>
        assessmentTagAnswer(
          await createAssessmentTagAs(tx, { actor: caller, now: clock() }, { name, assessment }),
        ),
      ),
  });

const declareUpdateAssessmentTag = ({ clock, db }: Context) =>
  operation({
    id: 'updateAssessmentTag',
    number: 4,
    summary: 'Update an assessment tag name',
    description: 'Renames the tag. For organization admins.',
    method: 'PUT',
    path: '/assessment_tags/:id',
    access: V1_ACCESS,
    params: idPath('The id of an assessment tag.', 1),
    body: RenameBody,
    bodyLimit: SMALL_BODY,
    answers: { 200: { description: 'The tag with its new name.', schema: AssessmentTagBody } },
    versioned: true,
    async handler({ caller, expected, params: { id }, body: { name } }) {
      const act = { actor: caller, now: clock() };
      return assessmentTagAnswer(await db.write((tx) => renameAssessmentTag(tx, act, id, name, expected)));
    },
  });

const CountedAssessmentTagBody = Type.Object(
  {
    ...AssessmentTagBody.properties,
    count: Type.Integer({ minimum: 0, description: 'How many assessments that you reach have it.' }),
  },
  { title: 'Counted assessment tag' },
);

const declareListAssessmentTags = (context: Context) =>
  listOperation(context, {
    id: 'listAssessmentTags',
    number: 34,
    summary: 'List assessment tags',
    description: 'The assessment tags of the organization, by name. For its users, and for staff.',
    path: '/assessment_tags',
    access: V1_ACCESS,
    style: 'v1',
    list: assessmentTagList,
    filters: { search: 'A part of the name, without regard to case.' },
    usualSort: { order: 'name' },
    schema: CountedAssessmentTagBody,
    row: ({ id, name, count }) => ({ id, name, count }),
  });

const declareDeleteAssessmentTag = ({ clock, db }: Context) =>
  operation({
    id: 'deleteAssessmentTag',
    number: 35,
    summary: 'Delete an assessment tag',
    description: 'Deletes the tag and takes it off every assessment. For organization admins.',
    method: 'DELETE',
    path: '/assessment_tags/:id',
    access: V1_ACCESS,
    params: idPath('The id of an assessment tag.', 2),
    answers: { 204: { description: 'The tag is deleted.' } },
    versioned: true,
    handler: ({ caller, expected, params: { id } }) =>
      db.write((tx) => deleteAssessmentTag(tx, { actor: caller, now: clock() }, id, expected)),
  });

export const ASSESSMENT_TAG_OPERATIONS = [
  declareCreateAssessmentTag,
  declareUpdateAssessmentTag,
  declareListAssessmentTags,
  declareDeleteAssessmentTag,
];

function assessmentTagAnswer({ id, name, version }: AssessmentTag) {
  return versioned(version, { id, name });
}
