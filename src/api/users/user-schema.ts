import { type Static, Type } from 'typebox';
import type { Caller } from '../../auth/callers.ts';
import { invitationUrl } from '../../auth/account-links.ts';
import { ROLES } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import { accessibleAssessmentsOf, type User } from '../../domain/users/user-list.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import {
  DateTimeSchema,
  emailSchema,
  MAX_RESULTS,
  MAX_TEXT,
  nullable,
  textSchema,
  nullableTextSchema,
} from '../../http/schemas.ts';

/** Visible to everyone who can see the user. */
const NAME_FIELDS = {
  id: Type.Integer(),
  uid: textSchema('u4Kd81mXq0ZtPw7a'),
  name: nullableTextSchema('Ada Lovelace'),
  email: emailSchema('ada@acme.example'),
};

export const InviteUrlSchema = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'uri',
  maxLength: MAX_TEXT,
  examples: [null],
  description:
    'Returned to admins only, and only to credentials with the scope `api`. `null` once the invitation is accepted.',
});

const DETAIL_FIELDS = {
  organization_uid: Type.Unsafe<string | null>({
    ...nullableTextSchema('acme'),
    description: '`null` for staff.',
  }),
  assessment_ids: Type.Array(textSchema('acme-web-2026'), {
    maxItems: MAX_RESULTS,
    description:
      'The assessments that the user has been granted access to by name. Members of groups, admins and staff have access to others as well.',
  }),
  banned: Type.Boolean(),
  staff: Type.Boolean(),
};

const ADMIN_FIELDS = {
  admin: Type.Optional(Type.Boolean({ description: 'Returned to admins only. Staff count as admins.' })),
  invite_url: Type.Optional(InviteUrlSchema),
  last_seen_at: Type.Optional(
    Type.Unsafe<string | null>({
      ...nullable(DateTimeSchema),
      description: 'Returned to admins only. `null` if the user has never signed in or used a token.',
    }),
  ),
  second_factor: Type.Optional(
    Type.Boolean({
      description: 'Returned to admins only. Whether the user has an authenticator app or a passkey.',
    }),
  ),
};

export const UserSchema = Type.Object(
  {
    ...NAME_FIELDS,
    ...DETAIL_FIELDS,
    ...ADMIN_FIELDS,
    accessible_assessment_ids: Type.Optional(
      Type.Array(textSchema('acme-web-2026'), {
        maxItems: MAX_RESULTS,
        description:
          'The assessments that the user can access, by name or by group. Absent for admins and staff, who can access all.',
      }),
    ),
  },
  { title: 'User' },
);

export const AssessmentUserSchema = Type.Object(
  {
    ...NAME_FIELDS,
    role: Type.String({
      enum: [...ROLES],
      maxLength: 32,
      description: 'The role by name; without one, the role in the group of the assessment.',
      examples: ['assessment_member'],
    }),
    via: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'], maxLength: MAX_TEXT }), {
      maxItems: 2,
      description: 'What gives the user access: `name`, and the id of the assessment group.',
      examples: [['name', 1]],
    }),
    ...DETAIL_FIELDS,
    ...ADMIN_FIELDS,
  },
  { title: 'Assessment user' },
);

export async function toUserWithAccessBody(
  context: Context,
  caller: Caller,
  user: User,
  db: Context['db']['read'] = context.db.read,
): Promise<Static<typeof UserSchema>> {
  const accessible = await accessibleAssessmentsOf(db, user);
  return {
    ...toUserBody(context, caller, user),
    ...(accessible === undefined ? {} : { accessible_assessment_ids: accessible }),
  };
}

/** A user in a list that is not restricted to admins. */
export const ListedUserSchema = Type.Object(
  {
    ...NAME_FIELDS,
    organization_uid: Type.Optional(DETAIL_FIELDS.organization_uid),
    assessment_ids: Type.Optional(DETAIL_FIELDS.assessment_ids),
    banned: Type.Optional(DETAIL_FIELDS.banned),
    staff: Type.Optional(DETAIL_FIELDS.staff),
    ...ADMIN_FIELDS,
  },
  { title: 'Listed user', description: 'Callers who are not admins get only id, uid, name and email.' },
);

/** Returns the properties of the user that the caller may see. */
export function toUserBody(
  { addresses, keys }: Pick<Context, 'addresses' | 'keys'>,
  caller: Caller,
  user: User,
): Static<typeof UserSchema> {
  const { id, uid, name, email, assessmentIds, banned, staff, admin, lastSeenAt } = user;
  return {
    id,
    uid,
    name,
    email,
    organization_uid: user.organizationUid,
    assessment_ids: [...assessmentIds],
    banned,
    staff,
    ...(caller.admin
      ? {
          admin: admin || staff,
          // Who has the link sets the password of the account, which a credential that only reads must not.
          ...(caller.scopes.has('api')
            ? {
                invite_url: user.accepted ? null : invitationUrl(addresses.clientBaseUrl, keys.secret, user),
              }
            : {}),
          last_seen_at: lastSeenAt === null ? null : formatTimestamp(lastSeenAt),
          second_factor: user.secondFactor,
        }
      : {}),
  };
}

export function toUserRefBody({ id, uid, name, email }: User) {
  return { id, uid, name, email };
}
