import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  ADDITION_ERRORS,
  ADDITION_STATUSES,
  addGroupMembers,
  type AdditionResult,
} from '../../domain/assessments/member-additions.ts';
import { GROUP_ROLES } from '../../domain/assessments/groups.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { SMALL_BODY } from '../../http/json-bodies.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, MAX_TEXT } from '../../http/schemas.ts';
import { GroupPath, MEMBERS_ACCESS, MEMBERS_PATH, USER_UID, UserUid } from './members.ts';

const MAX_ADDED_AT_ONCE = 100;

const AddBody = Type.Object(
  {
    members: Type.Array(
      Type.Object(
        {
          userUid: UserUid,
          role: Type.String({
            maxLength: MAX_TEXT,
            description: `One of ${GROUP_ROLES.join(', ')}.`,
            examples: ['assessment_member'],
          }),
        },
        { title: 'Member to add' },
      ),
      { minItems: 1, maxItems: MAX_ADDED_AT_ONCE, description: 'No user twice.' },
    ),
  },
  { title: 'Members to add' },
);

const count = Type.Integer({ minimum: 0 });

const Additions = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          userUid: Type.String({ maxLength: 64, examples: [USER_UID] }),
          status: Type.String({
            enum: [...ADDITION_STATUSES],
            maxLength: 16,
            description: 'added: a new member, or one who has another role now. noop: one who has the role.',
            examples: ['added'],
          }),
          role: Type.Optional(
            Type.String({
              enum: [...GROUP_ROLES],
              maxLength: 32,
              description: 'Absent with the status error.',
            }),
          ),
          id: Type.Optional(Type.Integer({ description: 'The membership; absent with the status error.' })),
          errorCode: Type.Optional(
            Type.String({
              enum: [...ADDITION_ERRORS],
              maxLength: 32,
              description:
                'With the status error alone. user_not_in_org is told to staff, to others it is user_not_found.',
            }),
          ),
          errorDetail: Type.Optional(
            Type.String({ maxLength: MAX_TEXT, description: 'With the status error alone.' }),
          ),
        },
        { title: 'Addition result' },
      ),
      {
        maxItems: MAX_ADDED_AT_ONCE,
        description: 'In the order of the request.',
        examples: [
          [
            { userUid: USER_UID, status: 'added', role: 'assessment_member', id: 1 },
            {
              userUid: 'nobody',
              status: 'error',
              errorCode: 'user_not_found',
              errorDetail: 'No user has this uid.',
            },
          ],
        ],
      },
    ),
    metadata: Type.Object(
      {
        processedAt: DateTime,
        counts: Type.Object(
          { added: count, removed: count, noop: count, error: count },
          { title: 'Addition counts', examples: [{ added: 1, removed: 0, noop: 0, error: 1 }] },
        ),
      },
      { title: 'Addition metadata' },
    ),
  },
  { title: 'Addition results' },
);

const declareAddGroupMembers = ({ clock }: Context) =>
  operation({
    id: 'addGroupMembers',
    number: 47,
    summary: 'Add users to an assessment group',
    description:
      'For members with the role rbac_group_admin or infra_admin, admins of the organization, and staff. Each user has a result of their own; who is a member is given the role. infra_admin is given by admins and staff, rbac_group_admin by those and by who has it; the last rbac_group_admin keeps the role.',
    method: 'POST',
    path: `${MEMBERS_PATH}/batchAdd`,
    access: MEMBERS_ACCESS,
    params: GroupPath,
    body: AddBody,
    bodyLimit: SMALL_BODY,
    answers: { 200: { description: 'What became of each user.', schema: Additions } },
    repeats: true,
    handler({ caller, change, params, body }) {
      const act = { actor: caller, now: clock() };
      return change(async (tx) => {
        const results = await addGroupMembers(tx, act, params.assessmentGroupId, body.members);
        return { results, metadata: { processedAt: isoTime(act.now), counts: countsOf(results) } };
      });
    },
  });

function countsOf(results: readonly AdditionResult[]) {
  const counts = { added: 0, removed: 0, noop: 0, error: 0 };
  for (const { status } of results) counts[status] += 1;
  return counts;
}

export const MEMBER_ADDITION_OPERATIONS = [declareAddGroupMembers];
