import { Type } from 'typebox';
import { MEMBER_ORDERS } from '../../domain/assessments/group-members.ts';
import { GROUP_ROLES } from '../../domain/assessments/groups.ts';
import { REMOVAL_ERRORS, REMOVAL_STATUSES } from '../../domain/assessments/member-removals.ts';
import { PageLink } from '../../http/paging.ts';
import { DateTime, MAX_TEXT } from '../../http/schemas.ts';

export const MAX_REMOVED_AT_ONCE = 100;
export const DEFAULT_PER_PAGE = 50;
const MAX_PER_PAGE = 200;

const USER_UID = 'u8x2k0vq4m7c1n5p';

export const GroupPath = Type.Object({
  assessmentGroupId: Type.Integer({ minimum: 1, description: 'The assessment group.', examples: [1] }),
});

const role = { type: 'string', examples: ['assessment_member'] };

export const MembersQuery = Type.Object({
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
  role: Type.Optional(Type.Enum(GROUP_ROLES, { ...role, description: 'Only members with this role.' })),
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

export const MembersResponse = Type.Object({
  members: Type.Array(
    Type.Object({
      userUid: Type.String({ maxLength: MAX_TEXT, examples: [USER_UID] }),
      role: Type.String({ enum: [...GROUP_ROLES], maxLength: 32, examples: role.examples }),
      id: Type.Integer({ description: 'The membership.' }),
      createdAt: DateTime,
      userEmail: Type.Optional(Type.String({ maxLength: MAX_TEXT, examples: ['ada@acme.example'] })),
      userName: Type.Optional(Type.String({ maxLength: MAX_TEXT, examples: ['Ada Example'] })),
    }),
    { maxItems: MAX_PER_PAGE },
  ),
  metadata: Type.Object({
    pagination: Type.Object(
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
      { examples: [PAGINATION] },
    ),
    actions: Type.Array(
      Type.Object(
        {
          name: Type.String({ maxLength: 64 }),
          method: Type.String({ maxLength: 16 }),
          href: PageLink,
        },
        { examples: [ACTION] },
      ),
      { maxItems: 16, description: 'What this caller may do with the group.' },
    ),
  }),
});

export const RemoveMembersBody = Type.Object({
  userUids: Type.Array(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[a-zA-Z0-9_-]+$',
      examples: [USER_UID],
    }),
    { minItems: 1, maxItems: MAX_REMOVED_AT_ONCE, uniqueItems: true },
  ),
});

export const RemovalResponse = Type.Object({
  results: Type.Array(
    Type.Object({
      userUid: Type.String({ maxLength: 64, examples: [USER_UID] }),
      status: Type.String({
        enum: [...REMOVAL_STATUSES],
        maxLength: 16,
        description: 'noop: a user of the organization who is not in the group.',
        examples: ['removed'],
      }),
      errorCode: Type.Optional(
        Type.String({
          enum: [...REMOVAL_ERRORS],
          maxLength: 32,
          description:
            'With the status error alone. user_not_in_org is told to staff, to others it is user_not_found.',
        }),
      ),
      errorDetail: Type.Optional(
        Type.String({ maxLength: MAX_TEXT, description: 'With the status error alone.' }),
      ),
    }),
    {
      maxItems: MAX_REMOVED_AT_ONCE,
      description: 'In the order of the request.',
      examples: [
        [
          { userUid: USER_UID, status: 'removed' },
          {
            userUid: 'nobody',
            status: 'error',
            errorCode: 'user_not_found',
            errorDetail: 'There is no such user.',
          },
        ],
      ],
    },
  ),
  metadata: Type.Object({
    processedAt: DateTime,
    counts: Type.Object(
      { added: count, removed: count, noop: count, error: count },
      { examples: [{ added: 0, removed: 1, noop: 0, error: 1 }] },
    ),
  }),
});
