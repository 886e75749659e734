import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import {
  assessmentOfAdmin,
  assessmentUserList,
  changeAssessmentUsers,
} from '../../domain/users/assessment-users.ts';
import { SMALL_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { MAX_RESULTS } from '../../http/schemas.ts';
import { AssessmentPath } from './assessment-schema.ts';
import { V1_ACCESS } from '../v1-params.ts';
import { UserBody, userBody } from '../users/user-schema.ts';

const path = '/assessments/:id/users';
const MAX_USERS = 1_000;

const userIds = (description: string, examples: number[][]) =>
  Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      maxItems: MAX_USERS,
      description,
      examples,
    }),
  );

const AccessChangeBody = Type.Object(
  {
    add: userIds('Ids of users of the organization.', [[5]]),
    remove: userIds('The same; nobody in both.', [[]]),
  },
  { title: 'Assessment access change' },
);

const declareListAssessmentUsers = (context: Context) =>
  listOperation(context, {
    id: 'listAssessmentUsers',
    number: 40,
    summary: 'List who was given access to an assessment',
    description: 'The client users who were, by id; admins and staff have it anyway. For admins.',
    path,
    access: V1_ACCESS,
    params: AssessmentPath,
    style: 'v1',
    list: assessmentUserList,
    usualSort: { order: 'id' },
    within: async ({ db, caller }, { id }) => ({ assessment: [await assessmentOfAdmin(db, caller, id)] }),
    schema: UserBody,
    row: (user, { caller }) => userBody(context, caller, user),
  });

const declareChangeAssessmentUsers = (context: Context) =>
  operation({
    id: 'updateAssessmentUsers',
    number: 40,
    summary: 'Give and take access to an assessment',
    description: 'Answers with all who have been given access then. For admins.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: AssessmentPath,
    body: AccessChangeBody,
    bodyLimit: SMALL_BODY,
    answers: {
      200: {
        description: 'Who has been given access, by id.',
        schema: Type.Array(UserBody, { maxItems: MAX_RESULTS }),
      },
    },
    async handler({ caller, params: { id }, body }) {
      const act = { actor: caller, now: context.clock() };
      const users = await context.db.write((tx) => changeAssessmentUsers(tx, act, id, body));
      return users.map((user) => userBody(context, caller, user));
    },
  });

export const ASSESSMENT_USER_OPERATIONS = [declareListAssessmentUsers, declareChangeAssessmentUsers];
