import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  requireAdministeredAssessment,
  assessmentUserList,
  updateAssessmentUsers,
} from '../../domain/users/assessment-users.ts';
import { SMALL_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { MAX_RESULTS } from '../../http/schemas.ts';
import { AssessmentParamsSchema } from './assessment-schema.ts';
import { V1_ACCESS } from '../v1-params.ts';
import { UserSchema, toUserBody } from '../users/user-schema.ts';

const path = '/assessments/:id/users';
const MAX_USERS = 1_000;

const userIdsSchema = (description: string, examples: number[][]) =>
  Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      maxItems: MAX_USERS,
      description,
      examples,
    }),
  );

const UpdateAccessSchema = Type.Object(
  {
    add: userIdsSchema('Ids of users of the organization to grant access to.', [[5]]),
    remove: userIdsSchema('Ids of users to revoke access from. A user cannot be in both lists.', [[]]),
  },
  { title: 'Assessment access change' },
);

const listAssessmentUsersOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAssessmentUsers',
    number: 40,
    summary: 'List users with access to an assessment',
    description:
      'Lists the client users with access to the assessment, by id. Admins and staff always have access and are not listed. Requires an admin.',
    path,
    access: V1_ACCESS,
    params: AssessmentParamsSchema,
    style: 'v1',
    list: assessmentUserList,
    defaultSort: { sort: 'id' },
    scope: async ({ db, caller }, { id }) => ({
      assessment: [await requireAdministeredAssessment(db, caller, id)],
    }),
    schema: UserSchema,
    toRow: (user, { caller }) => toUserBody(context, caller, user),
  });

const updateAssessmentUsersOperation = (context: Context) =>
  operation({
    id: 'updateAssessmentUsers',
    number: 40,
    summary: 'Grant and revoke access to an assessment',
    description:
      'Grants and revokes access, and returns all client users who have access afterwards. Requires an admin.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: AssessmentParamsSchema,
    body: UpdateAccessSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    responses: {
      200: {
        description: 'The client users with access, by id.',
        schema: Type.Array(UserSchema, { maxItems: MAX_RESULTS }),
      },
    },
    async handler({ caller, params: { id }, body, write }) {
      const by = { actor: caller, now: context.clock() };
      const users = await write((tx) => updateAssessmentUsers(tx, by, id, body));
      return users.map((user) => toUserBody(context, caller, user));
    },
  });

export default operationsOf('v1', [listAssessmentUsersOperation, updateAssessmentUsersOperation]);
