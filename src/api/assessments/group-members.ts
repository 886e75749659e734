import { Type } from 'typebox';
import { API_SCOPE } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
import {
  type GroupMember,
  listGroupMembers,
  MEMBER_ORDERS,
} from '../../domain/assessments/list-group-members.ts';
import { GROUP_ROLES } from '../../domain/assessments/groups.ts';
import {
  REMOVAL_ERRORS,
  REMOVAL_STATUSES,
  removeGroupMembers,
} from '../../domain/assessments/remove-group-members.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { AREAS } from '../../http/areas.ts';
import { SMALL_BODY } from '../../http/json-bodies.ts';
import { operation } from '../../http/operation.ts';
import { PageLink, pageLinks, pagesOf } from '../../http/lists/page.ts';
import { DateTime, MAX_TEXT } from '../../http/schemas.ts';
import { answerOf, MAX_AT_ONCE, memberResults, USER_UID } from './group-member-results.ts';

export const MEMBERS_ACCESS = { scopes: API_SCOPE, schemes: 'bearer' } as const;
export const MEMBERS_PATH = '/v1/assessment-groups/:assessmentGroupId/members';

const DEFAULT_PER_PAGE = 50;
const MAX_PER_PAGE = 200;

export const GroupPath = Type.Object({
  assessmentGroupId: Type.Integer({ minimum: 1, description: 'The assessment group.', examples: [1] }),
});

const ROLE = { type: 'string', examples: ['assessment_member'] };

const MembersQuery = Type.Object({
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 1,
      description: 'Counted from 1. One past the end is an empty list.',
    }),
  ),
  perPage: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PER_PAGE, default: DEFAULT_PER_PAGE })),
  sort: Type.Optional(
    Type.Enum(MEMBER_ORDERS, {
      type: 'string',
      default: 'createdAt',
      description: 'Ties are broken by membership id, ascending.',
    }),
  ),
  sortDir: Type.Optional(Type.Enum(['asc', 'desc'], { type: 'string', default: 'asc' })),
  role: Type.Optional(Type.Enum(GROUP_ROLES, { ...ROLE, description: 'Only members with this role.' })),
});

const count = Type.Integer({ minimum: 0 });

/** The second of three pages. */
const MEMBERS_URL = 'http://127.0.0.1:8080/api/assessment/v1/assessment-groups/1/members?perPage=50';
const PAGINATION = {
  total: 120,
  page: 2,
  perPage: 50,
  totalPages: 3,
  self: `${MEMBERS_URL}&page=2`,
  prev: `${MEMBERS_URL}&page=1`,
  next: `${MEMBERS_URL}&page=3`,
  first: `${MEMBERS_URL}&page=1`,
  last: `${MEMBERS_URL}&page=3`,
};
const ACTION = {
  name: 'batchRemove',
  method: 'POST',
  href: 'http://127.0.0.1:8080/api/assessment/v1/assessment-groups/1/members/batchRemove',
};

/** One that is unknown is left out by the serializer. */
const UserName = Type.Unsafe<string | undefined>({
  type: 'string',
  maxLength: MAX_TEXT,
  examples: ['Ada Example'],
});

const GroupMemberBody = Type.Object(
  {
    userUid: Type.String({ maxLength: MAX_TEXT, examples: [USER_UID] }),
    role: Type.String({ enum: [...GROUP_ROLES], maxLength: 32, examples: ROLE.examples }),
    id: Type.Integer({ description: 'The membership.' }),
    createdAt: DateTime,
    userEmail: Type.Optional(Type.String({ maxLength: MAX_TEXT, examples: ['ada@acme.example'] })),
    userName: Type.Optional(UserName),
  },
  { title: 'Group member' },
);

const Pagination = Type.Object(
  {
    total: count,
    page: Type.Integer({ minimum: 1 }),
    perPage: Type.Integer({ minimum: 1, maximum: MAX_PER_PAGE }),
    totalPages: count,
    self: PageLink,
    prev: Type.Optional(PageLink),
    next: Type.Optional(PageLink),
    first: PageLink,
    last: PageLink,
  },
  { title: 'Pagination', examples: [PAGINATION] },
);

const GroupAction = Type.Object(
  {
    name: Type.String({ maxLength: 64 }),
    method: Type.String({ maxLength: 16 }),
    href: PageLink,
  },
  { title: 'Group action', examples: [ACTION] },
);

const MemberList = Type.Object(
  {
    members: Type.Array(GroupMemberBody, { maxItems: MAX_PER_PAGE }),
    metadata: Type.Object(
      {
        pagination: Pagination,
        actions: Type.Array(GroupAction, {
          maxItems: 16,
          description: 'What this caller may do with the group.',
        }),
      },
      { title: 'Group members metadata' },
    ),
  },
  { title: 'Group members' },
);

export const UserUid = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[a-zA-Z0-9_-]+$',
  examples: [USER_UID],
});

const RemoveBody = Type.Object(
  {
    userUids: Type.Array(UserUid, { minItems: 1, maxItems: MAX_AT_ONCE, uniqueItems: true }),
  },
  { title: 'Members to remove' },
);

const Removals = memberResults(
  'Removal',
  Type.String({
    enum: [...REMOVAL_STATUSES],
    maxLength: 16,
    description: 'noop: a user of the organization who is not in the group.',
    examples: ['removed'],
  }),
  {},
  REMOVAL_ERRORS,
  { done: { status: 'removed' }, counts: { added: 0, removed: 1, noop: 0, error: 1 } },
);

const declareListGroupMembers = ({ addresses, db }: Context) =>
  operation({
    id: 'listGroupMembers',
    number: 12,
    summary: 'List members of an assessment group',
    description: 'For members of the group, admins of its organization, and staff.',
    method: 'GET',
    path: MEMBERS_PATH,
    access: MEMBERS_ACCESS,
    params: GroupPath,
    query: MembersQuery,
    answers: {
      200: {
        description: 'A page of the members, and what the caller may do with the group.',
        schema: MemberList,
      },
    },
    async handler({ caller, params, query, url }) {
      const { assessmentGroupId } = params;
      const { page = 1, perPage = DEFAULT_PER_PAGE, sort = 'createdAt', sortDir, role } = query;
      const { members, total, mayChange } = await listGroupMembers(db.read, caller, assessmentGroupId, {
        page,
        perPage,
        sort,
        descending: sortDir === 'desc',
        role,
      });
      const totalPages = pagesOf(total, perPage);
      const base = addresses.clientBaseUrl;
      return {
        members: members.map(memberBody),
        metadata: {
          pagination: {
            total,
            page,
            perPage,
            totalPages,
            ...pageLinks(base, url, page, totalPages),
          },
          actions: (mayChange ? ['batchRemove', 'batchAdd'] : []).map((name) => ({
            name,
            method: 'POST',
            href: `${base}${AREAS.assessment.prefix}/v1/assessment-groups/${assessmentGroupId}/members/${name}`,
          })),
        },
      };
    },
  });

const declareRemoveGroupMembers = ({ clock, db }: Context) =>
  operation({
    id: 'removeGroupMembers',
    number: 13,
    summary: 'Remove users from an assessment group',
    description:
      'For members with the role rbac_group_admin or infra_admin, admins of the organization, and staff. Each user has a result of their own; the last rbac_group_admin stays.',
    method: 'POST',
    path: `${MEMBERS_PATH}/batchRemove`,
    access: MEMBERS_ACCESS,
    params: GroupPath,
    body: RemoveBody,
    bodyLimit: SMALL_BODY,
    answers: { 200: { description: 'What became of each user.', schema: Removals } },
    async handler({ caller, params, body }) {
      const act = { actor: caller, now: clock() };
      const results = await db.write((tx) =>
        removeGroupMembers(tx, act, params.assessmentGroupId, body.userUids),
      );
      return answerOf(results, act.now);
    },
  });

/** Fifty of them a page: naming the fields is several times as fast as spreading the row. */
function memberBody({ userUid, role, id, createdAt, userEmail, userName }: GroupMember) {
  return { userUid, role, id, createdAt: isoTime(createdAt), userEmail, userName: userName ?? undefined };
}

export const MEMBER_OPERATIONS = [declareListGroupMembers, declareRemoveGroupMembers];
