import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  ADDITION_ERRORS,
  ADDITION_STATUSES,
  addGroupMembers,
} from '../../domain/assessments/add-group-members.ts';
import { GROUP_ROLES } from '../../auth/roles.ts';
import { SMALL_BODY_LIMIT } from '../../http/json-bodies.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { describedAs, MAX_TEXT } from '../../http/schemas.ts';
import { toMemberResults, MAX_MEMBERS_PER_REQUEST, memberResultsSchema } from './group-member-results.ts';
import {
  GroupMembersParamsSchema,
  GROUP_MEMBERS_ACCESS,
  GROUP_MEMBERS_PATH,
  UserUidSchema,
} from './group-members.ts';

const AddGroupMembersSchema = Type.Object(
  {
    members: Type.Array(
      Type.Object(
        {
          userUid: UserUidSchema,
          role: describedAs(Type.String({ maxLength: MAX_TEXT, examples: ['assessment_member'] }), {
            enum: GROUP_ROLES,
          }),
        },
        { title: 'Member to add' },
      ),
      { minItems: 1, maxItems: MAX_MEMBERS_PER_REQUEST, description: 'Each user may appear once.' },
    ),
  },
  { title: 'Members to add' },
);

const AdditionResultsSchema = memberResultsSchema(
  'Addition',
  Type.String({
    enum: [...ADDITION_STATUSES],
    maxLength: 16,
    description:
      '`added`: the user joined the group, or their role changed. `noop`: the user already had this role.',
    examples: ['added'],
  }),
  {
    role: Type.Optional(
      Type.String({
        enum: [...GROUP_ROLES],
        maxLength: 32,
        description: 'Absent when the status is `error`.',
      }),
    ),
    id: Type.Optional(Type.Integer({ description: 'The membership. Absent when the status is `error`.' })),
  },
  ADDITION_ERRORS,
  {
    done: { status: 'added', role: 'assessment_member', id: 1 },
    counts: { added: 1, removed: 0, noop: 0, error: 1 },
  },
);

const addGroupMembersOperation = ({ clock }: Context) =>
  operation({
    id: 'addGroupMembers',
    number: 47,
    summary: 'Add users to an assessment group',
    description:
      'Requires the role `rbac_group_admin` or `infra_admin` in the group, an organization admin, or staff. Each user gets a result of their own; a user who is already a member gets the new role. Only admins and staff can grant `infra_admin`; they and members with `rbac_group_admin` can grant `rbac_group_admin`. The last `rbac_group_admin` of a group keeps that role.',
    method: 'POST',
    path: `${GROUP_MEMBERS_PATH}/batchAdd`,
    access: GROUP_MEMBERS_ACCESS,
    params: GroupMembersParamsSchema,
    body: AddGroupMembersSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    responses: { 200: { description: 'The result for each user.', schema: AdditionResultsSchema } },
    idempotency: true,
    handler({ caller, writeOnce, params, body }) {
      const by = { actor: caller, now: clock() };
      return writeOnce(async (tx) =>
        toMemberResults(await addGroupMembers(tx, by, params.assessmentGroupId, body.members), by.now),
      );
    },
  });

export default operationsOf('assessment', [addGroupMembersOperation]);
