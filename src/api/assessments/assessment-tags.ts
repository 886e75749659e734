import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  type AssessmentTag,
  createAssessmentTag,
  deleteAssessmentTag,
  renameAssessmentTag,
} from '../../domain/assessments/assessment-tags.ts';
import { assessmentTagList } from '../../domain/assessments/assessment-tag-list.ts';
import { SMALL_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { MAX_TEXT, nameSchema, textSchema } from '../../http/schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';
import { RenameTagSchema } from '../common-schemas.ts';

const NewAssessmentTagSchema = Type.Object(
  {
    name: nameSchema('retest 2027'),
    assessment_id: Type.String({
      maxLength: MAX_TEXT,
      description: 'The uid of the assessment to tag.',
      examples: ['acme-web-2026'],
    }),
  },
  { title: 'New assessment tag' },
);

export const AssessmentTagSchema = Type.Object(
  { id: Type.Integer(), name: textSchema('external') },
  { title: 'Assessment tag' },
);

const createAssessmentTagOperation = ({ clock }: Context) =>
  operation({
    id: 'createAssessmentTag',
    number: 3,
    summary: 'Create an assessment tag',
    description: 'Creates a tag and adds it to the assessment. Requires an organization admin.',
    method: 'POST',
    path: '/assessment_tags',
    access: V1_ACCESS,
    body: NewAssessmentTagSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    responses: { 201: { description: 'The created tag.', schema: AssessmentTagSchema } },
    versioned: true,
    idempotency: true,
    handler: ({ caller, writeOnce, body: { name, assessment_id: assessment } }) =>
      writeOnce(async (tx) =>
        toAssessmentTagResult(
          await createAssessmentTag(tx, { actor: caller, now: clock() }, { name, assessment }),
        ),
      ),
  });

const updateAssessmentTagOperation = ({ clock }: Context) =>
  operation({
    id: 'updateAssessmentTag',
    number: 4,
    summary: 'Update an assessment tag name',
    description: 'Renames the tag. Requires an organization admin.',
    method: 'PUT',
    path: '/assessment_tags/:id',
    access: V1_ACCESS,
    params: idParams('The id of an assessment tag.', 1),
    body: RenameTagSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    responses: { 200: { description: 'The renamed tag.', schema: AssessmentTagSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params: { id }, body: { name }, write }) {
      const by = { actor: caller, now: clock() };
      return toAssessmentTagResult(await write((tx) => renameAssessmentTag(tx, by, id, name, ifMatch)));
    },
  });

const CountedAssessmentTagSchema = Type.Object(
  {
    ...AssessmentTagSchema.properties,
    count: Type.Integer({
      minimum: 0,
      description: 'The number of assessments visible to the caller that have the tag.',
    }),
  },
  { title: 'Counted assessment tag' },
);

const listAssessmentTagsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAssessmentTags',
    number: 34,
    summary: 'List assessment tags',
    description:
      'Lists the assessment tags of the organization by name. Requires a user of the organization, or staff.',
    path: '/assessment_tags',
    access: V1_ACCESS,
    style: 'v1',
    list: assessmentTagList,
    filters: { search: 'Return only tags whose name contains this text, ignoring case.' },
    defaultSort: { sort: 'name' },
    schema: CountedAssessmentTagSchema,
    toRow: ({ id, name, count }) => ({ id, name, count }),
  });

const deleteAssessmentTagOperation = ({ clock }: Context) =>
  operation({
    id: 'deleteAssessmentTag',
    number: 35,
    summary: 'Delete an assessment tag',
    description: 'Deletes the tag and removes it from every assessment. Requires an organization admin.',
    method: 'DELETE',
    path: '/assessment_tags/:id',
    access: V1_ACCESS,
    params: idParams('The id of an assessment tag.', 2),
    responses: { 204: { description: 'The tag was deleted.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { id }, write }) =>
      write((tx) => deleteAssessmentTag(tx, { actor: caller, now: clock() }, id, ifMatch)),
  });

export default operationsOf('v1', [
  createAssessmentTagOperation,
  updateAssessmentTagOperation,
  listAssessmentTagsOperation,
  deleteAssessmentTagOperation,
]);

function toAssessmentTagResult({ id, name, version }: AssessmentTag) {
  return versionedResult(version, { id, name });
}
