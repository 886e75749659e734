import { type Static, Type } from 'typebox';
import { ACCESS_ROLES } from '../../auth/roles.ts';
import type { Caller } from '../../auth/callers.ts';
import type { Context } from '../../context.ts';
import { readBatches } from '../../domain/lists/read-batches.ts';
import {
  type AssessmentUser,
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
import { AssessmentUserSchema, toUserBody } from '../users/user-schema.ts';

const path = '/assessments/:id/users';
const MAX_USERS = 1_000;

const UserIdSchema = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [5] });

const UpdateAccessSchema = Type.Object(
  {
    add: Type.Optional(
      Type.Array(
        Type.Union([
          UserIdSchema,
          Type.Object(
            {
              id: UserIdSchema,
              role: Type.Optional(
                Type.Enum(ACCESS_ROLES, { type: 'string', examples: ['assessment_read_only'] }),
              ),
            },
            { title: 'User with a role' },
          ),
        ]),
        {
          maxItems: MAX_USERS,
          description:
            'Ids of users of the organization to grant access by name to, or objects with `id` and `role`. An id alone grants `assessment_member` to users without access by name, and changes nothing for others.',
          examples: [[5]],
        },
      ),
    ),
    remove: Type.Optional(
      Type.Array(UserIdSchema, {
        maxItems: MAX_USERS,
        description:
          'Ids of users to revoke access by name from; access by group stays. A user cannot be in both lists.',
        examples: [[]],
      }),
    ),
  },
  { title: 'Assessment access change' },
);

function toAssessmentUserBody(
  context: Context,
  caller: Caller,
  user: AssessmentUser,
): Static<typeof AssessmentUserSchema> {
  return { ...toUserBody(context, caller, user), role: user.role, via: user.via };
}

const listAssessmentUsersOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAssessmentUsers',
    number: 40,
    summary: 'List users with access to an assessment',
    description:
      'Lists the client users with access to the assessment, by name or by group, in the order of their ids. Admins and staff always have access and are not listed. Requires an admin.',
    path,
    access: V1_ACCESS,
    params: AssessmentParamsSchema,
    style: 'v1',
    list: assessmentUserList,
    defaultSort: { sort: 'id' },
    scope: async ({ db, caller }, { id }) => ({
      assessment: [(await requireAdministeredAssessment(db, caller, id)).id],
    }),
    schema: AssessmentUserSchema,
    hasSecret: true,
    toRow: (user, { caller }) => toAssessmentUserBody(context, caller, user),
  });

const updateAssessmentUsersOperation = (context: Context) =>
  operation({
    id: 'updateAssessmentUsers',
    number: 40,
    summary: 'Grant and revoke access to an assessment',
    description:
      'Grants and revokes access by name, and returns all client users who have access afterwards, by name or by group. Requires an admin.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: AssessmentParamsSchema,
    body: UpdateAccessSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    responses: {
      200: {
        description: 'The client users with access, by id.',
        schema: Type.Array(AssessmentUserSchema, { maxItems: MAX_RESULTS }),
      },
    },
    hasSecret: true,
    async handler({ caller, params: { id }, body, write }) {
      const by = { actor: caller, now: context.clock() };
      const assessment = await write((tx) => updateAssessmentUsers(tx, by, id, body));
      // A group can have many members, so they are read in batches, when the transaction has ended.
      const request = { filters: { assessment: [assessment] }, sort: 'id', descending: false } as const;
      const listContext = { db: context.db.read, caller, now: by.now };
      const users = [];
      for await (const { items } of readBatches(assessmentUserList, listContext, request, 0, Infinity))
        users.push(...items.map((user) => toAssessmentUserBody(context, caller, user)));
      return users;
    },
  });

export default operationsOf('v1', [listAssessmentUsersOperation, updateAssessmentUsersOperation]);
