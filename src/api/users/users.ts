import { Type } from 'typebox';
import type { Caller } from '../../auth/callers.ts';
import { MAX_EMAIL_LENGTH } from '../../auth/email-addresses.ts';
import { invitationUrl } from '../../auth/account-links.ts';
import { ALL_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
import { banUserAs } from '../../domain/users/ban-user.ts';
import { requestInvitationMail } from '../../domain/users/invitations.ts';
import { invitePerson } from '../../domain/users/invite-user.ts';
import {
  callersOwnUser,
  requireUserLister,
  userForCaller,
  userList,
  usersById,
} from '../../domain/users/user-list.ts';
import { missing } from '../../domain/shared/errors.ts';
import { SMALL_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import type { RepeatRule } from '../../http/idempotency.ts';
import { MAX_RESULTS, MAX_TEXT, storedText } from '../../http/schemas.ts';
import { LocationHeader, versioned } from '../../http/etags.ts';
import { idPath, V1_ACCESS } from '../v1-params.ts';
import { InviteUrl, ListedUserBody, namedUserBody, UserBody, userBody } from './user-schema.ts';

const collection = '/users';
const path = `${collection}/:id`;
const ID = 'The id of a user.';
const MAX_ASSESSMENTS = 1_000;

const BannedUser = Type.Object(
  {
    id: Type.Integer(),
    email: storedText('spare@acme.example'),
    assessment_ids: Type.Array(storedText('acme-web-2026'), {
      maxItems: MAX_RESULTS,
      description: 'The assessments that the user can access.',
    }),
    banned: Type.Boolean(),
    admin: Type.Optional(Type.Boolean({ description: 'Shown to admins only.' })),
    invite_url: Type.Optional(InviteUrl),
  },
  { title: 'Banned user' },
);

const declareBanUser = ({ addresses, clock, db, keys }: Context) =>
  operation({
    id: 'banUser',
    number: 6,
    summary: 'Ban or delete a user',
    description:
      'Bans the user, which ends their sessions, tokens and API keys at once. A user who was invited and never signed in is deleted. For admins.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: idPath(ID, 6),
    answers: { 200: { description: 'The user is banned.', schema: BannedUser } },
    bodiless: [403, 404],
    versioned: true,
    async handler({ caller, expected, params }) {
      const act = { actor: caller, now: clock() };
      const user = await db.write((tx) => banUserAs(tx, act, params.id, expected));
      const inviteUrl = user.accepted ? null : invitationUrl(addresses.clientBaseUrl, keys.secret, user);
      return versioned(user.version, {
        id: user.id,
        email: user.email,
        assessment_ids: user.assessmentIds,
        banned: true,
        ...(caller.admin ? { admin: user.admin, invite_url: inviteUrl } : {}),
      });
    },
  });

const OwnUserBody = Type.Object(
  {
    ...UserBody.properties,
    scopes: Type.Array(Type.Enum([...ALL_SCOPES], { type: 'string' }), {
      maxItems: ALL_SCOPES.length,
      description: 'What the credential of this request may be used for.',
    }),
  },
  { title: 'Own user' },
);

const declareWhoAmI = (context: Context) =>
  operation({
    id: 'whoAmI',
    number: 52,
    summary: 'Who am I',
    description: 'The account that the credential belongs to, and the scopes that the credential has.',
    method: 'GET',
    path: `${collection}/whoami`,
    access: V1_ACCESS,
    answers: { 200: { description: 'The account.', schema: OwnUserBody } },
    versioned: true,
    async handler({ caller }) {
      const user = await callersOwnUser(context.db.read, caller);
      return versioned(user.version, {
        ...userBody(context, caller, user),
        scopes: ALL_SCOPES.filter((scope) => caller.scopes.has(scope)),
      });
    },
  });

const declareListUsers = (context: Context) =>
  listOperation(context, {
    id: 'listUsers',
    number: 53,
    summary: 'List users',
    description:
      'The client users of the organization, by address: for admins, and for who holds `rbac_group_admin` in a group, who gets id, uid, name and address alone.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: userList,
    filters: {
      search: 'A part of the address or of the name, without regard to case.',
      banned: 'Who is banned, or who is not.',
      invited: 'Who has not accepted the invitation, or who has.',
    },
    usualSort: { order: 'email' },
    async within(reading) {
      await requireUserLister(reading);
      return {};
    },
    schema: ListedUserBody,
    row: (user, { caller }) => (caller.admin ? userBody(context, caller, user) : namedUserBody(user)),
  });

const NewUserBody = Type.Object(
  {
    email: Type.String({ maxLength: MAX_EMAIL_LENGTH, examples: ['ada@acme.example'] }),
    name: Type.Optional(Type.String({ maxLength: MAX_TEXT, examples: ['Ada Lovelace'] })),
    first_name: Type.Optional(
      Type.String({
        maxLength: MAX_TEXT,
        examples: ['Ada'],
        description: 'With `last_name`, in place of `name`.',
      }),
    ),
    last_name: Type.Optional(Type.String({ maxLength: MAX_TEXT, examples: ['Lovelace'] })),
    admin: Type.Optional(Type.Boolean({ default: false, description: 'Of the organization.' })),
    assessments: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['acme-web-2026'] }), {
        maxItems: MAX_ASSESSMENTS,
        description: 'The uids of the assessments that they are given access to.',
      }),
    ),
    send_invite: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'By mail, where this server sends any; the link is in the answer in any case.',
      }),
    ),
    organization_uid: Type.Optional(
      Type.String({ maxLength: MAX_TEXT, examples: ['acme'], description: 'Staff have to say it.' }),
    ),
  },
  { title: 'New user' },
);

/** The link is a secret, which is made anew for a repeat: as it is then. */
const inviteRepeats = (context: Context): RepeatRule => ({
  withheld: ['invite_url'],
  async remake({ id }, caller) {
    const [user] = await usersById(context.db.read, [id as number]);
    return { invite_url: user === undefined ? null : userBody(context, caller, user).invite_url };
  },
});

const declareInviteUser = (context: Context) =>
  operation({
    id: 'inviteUser',
    number: 54,
    summary: 'Invite a user',
    description: 'Invites somebody into the organization. For admins.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: NewUserBody,
    bodyLimit: SMALL_BODY,
    inputs: { organization: 'organization_uid' },
    answers: {
      201: {
        description: 'The user, and the link by which they accept.',
        schema: UserBody,
        headers: { Location: LocationHeader },
      },
    },
    versioned: true,
    repeats: inviteRepeats(context),
    async handler({ caller, change, body }) {
      const now = context.clock();
      const act = { actor: caller, now };
      const { email, admin, assessments, organization_uid: organization } = body;
      const name = body.name ?? (`${body.first_name ?? ''} ${body.last_name ?? ''}`.trim() || undefined);
      const mails = body.send_invite !== false && context.config.smtpUrl !== undefined;
      const answer = await change(async (tx) => {
        const invited = await invitePerson(tx, act, caller, {
          email,
          name,
          admin,
          assessments,
          organization,
        });
        if (mails) await requestInvitationMail(tx, act, invited);
        return createdUser(context, caller, await usersById(tx, [invited.id]));
      });
      if (mails) context.jobs.added();
      return answer;
    },
  });

function createdUser(context: Context, caller: Caller, [user]: Awaited<ReturnType<typeof usersById>>) {
  if (user === undefined) throw missing('user');
  return versioned(user.version, userBody(context, caller, user), { location: `${collection}/${user.id}` });
}

const declareGetUser = (context: Context) =>
  operation({
    id: 'getUser',
    number: 55,
    summary: 'Get a user',
    description: 'Oneself, or, for admins, a user of the organization.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: idPath(ID, 4),
    answers: { 200: { description: 'The user.', schema: UserBody } },
    versioned: true,
    async handler({ caller, params: { id } }) {
      const user = await userForCaller(context.db.read, caller, id);
      return versioned(user.version, userBody(context, caller, user));
    },
  });

export const USER_OPERATIONS = [
  declareBanUser,
  declareWhoAmI,
  declareListUsers,
  declareInviteUser,
  declareGetUser,
];
