import { type Static, Type } from 'typebox';
import type { Caller } from '../../auth/callers.ts';
import { invitationUrl } from '../../auth/account-links.ts';
import type { Context } from '../../runtime/context.ts';
import type { User } from '../../domain/users/user-list.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { DateTime, MAX_RESULTS, MAX_TEXT, orNull, storedText, unknownText } from '../../http/schemas.ts';

/** What everyone who may see a user sees of them. */
const NAMED = {
  id: Type.Integer(),
  uid: storedText('u4Kd81mXq0ZtPw7a'),
  name: unknownText('Ada Lovelace'),
  email: storedText('ada@acme.example'),
};

export const InviteUrl = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: MAX_TEXT,
  examples: [null],
  description: 'Shown to admins only; `null` once the invitation is accepted.',
});

const DETAILS = {
  organization_uid: Type.Unsafe<string | null>({
    ...unknownText('acme'),
    description: '`null` for platform staff.',
  }),
  assessment_ids: Type.Array(storedText('acme-web-2026'), {
    maxItems: MAX_RESULTS,
    description: 'The assessments that the user was given access to by name; admins and staff reach others.',
  }),
  banned: Type.Boolean(),
  staff: Type.Boolean(),
};

const FOR_ADMINS = {
  admin: Type.Optional(Type.Boolean({ description: 'Shown to admins only. Staff are admins.' })),
  invite_url: Type.Optional(InviteUrl),
  last_seen_at: Type.Optional(
    Type.Unsafe<string | null>({
      ...orNull(DateTime),
      description: 'Shown to admins only; `null` for who never used a browser or a token here.',
    }),
  ),
  second_factor: Type.Optional(
    Type.Boolean({
      description: 'Shown to admins only: whether they have an authenticator app or a passkey.',
    }),
  ),
};

export const UserBody = Type.Object({ ...NAMED, ...DETAILS, ...FOR_ADMINS }, { title: 'User' });

/** A user in a list that is not for admins alone. */
export const ListedUserBody = Type.Object(
  {
    ...NAMED,
    organization_uid: Type.Optional(DETAILS.organization_uid),
    assessment_ids: Type.Optional(DETAILS.assessment_ids),
    banned: Type.Optional(DETAILS.banned),
    staff: Type.Optional(DETAILS.staff),
    ...FOR_ADMINS,
  },
  { title: 'Listed user', description: 'For who is no admin, id, uid, name and email alone.' },
);

/** @returns the user as the caller sees them */
export function userBody(
  { addresses, keys }: Pick<Context, 'addresses' | 'keys'>,
  caller: Caller,
  user: User,
): Static<typeof UserBody> {
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
          invite_url: user.accepted ? null : invitationUrl(addresses.clientBaseUrl, keys.secret, user),
          last_seen_at: lastSeenAt === null ? null : isoTime(lastSeenAt),
          second_factor: user.secondFactor,
        }
      : {}),
  };
}

/** @returns what who is no admin sees of a user in a list */
export function namedUserBody({ id, uid, name, email }: User) {
  return { id, uid, name, email };
}
