import { type Static, Type } from 'typebox';
import { MAX_EMAIL_LENGTH } from '../../auth/email-addresses.ts';
import { invitationUrl } from '../../auth/account-links.ts';
import { ALL_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
import { banUser } from '../../domain/users/ban-user.ts';
import { queueInvitationMail } from '../../domain/users/invitations.ts';
import { inviteUser } from '../../domain/users/invite-user.ts';
import {
  requireOwnUser,
  requireUserListAccess,
  requireManagedUser,
  userList,
  usersById,
} from '../../domain/users/user-list.ts';
import { DomainError, notFound } from '../../domain/shared/errors.ts';
import type { PartialInput } from '../../domain/shared/partial-input.ts';
import { validateUserFields } from '../../domain/users/users.ts';
import { SMALL_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import type { IdempotencyOptions } from '../../http/idempotency.ts';
import { emailSchema, MAX_RESULTS, MAX_TEXT, textSchema } from '../../http/schemas.ts';
import { LocationHeader } from '../../http/etags.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';
import {
  InviteUrlSchema,
  ListedUserSchema,
  toUserBody,
  toUserRefBody,
  toUserWithAccessBody,
  UserSchema,
} from './user-schema.ts';

const collection = '/users';
const path = `${collection}/:id`;
const ID = 'The id of a user.';
const MAX_ASSESSMENTS = 1_000;

const BannedUserSchema = Type.Object(
  {
    id: Type.Integer(),
    email: emailSchema('spare@acme.example'),
    assessment_ids: Type.Array(textSchema('acme-web-2026'), {
      maxItems: MAX_RESULTS,
      description: 'The assessments that the user can access, by name or by group; all of them for an admin.',
    }),
    banned: Type.Boolean(),
    admin: Type.Optional(Type.Boolean({ description: 'Returned to admins only.' })),
    invite_url: Type.Optional(InviteUrlSchema),
  },
  { title: 'Banned user' },
);

const banUserOperation = ({ addresses, clock, keys }: Context) =>
  operation({
    id: 'banUser',
    number: 6,
    summary: 'Ban or delete a user',
    description:
      'Bans the user and ends their sessions, tokens and API keys immediately. A user who was invited and never signed in is deleted instead. Requires an admin.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: idParams(ID, 6),
    responses: { 200: { description: 'The user was banned or deleted.', schema: BannedUserSchema } },
    emptyErrorStatuses: [403, 404],
    versioned: true,
    hasSecret: true,
    async handler({ caller, ifMatch, params, write }) {
      const by = { actor: caller, now: clock() };
      const user = await write((tx) => banUser(tx, by, params.id, ifMatch));
      const inviteUrl = user.accepted ? null : invitationUrl(addresses.clientBaseUrl, keys.secret, user);
      return versionedResult(user.version, {
        id: user.id,
        email: user.email,
        assessment_ids: user.assessmentIds,
        banned: true,
        ...(caller.admin ? { admin: user.admin, invite_url: inviteUrl } : {}),
      });
    },
  });

const OwnUserSchema = Type.Object(
  {
    ...UserSchema.properties,
    scopes: Type.Array(Type.Enum([...ALL_SCOPES], { type: 'string' }), {
      maxItems: ALL_SCOPES.length,
      description: 'The scopes of the credential used.',
    }),
  },
  { title: 'Own user' },
);

const whoAmIOperation = (context: Context) =>
  operation({
    id: 'whoAmI',
    number: 52,
    summary: 'Get the authenticated user',
    description: 'Returns the user that the credential belongs to, and the scopes of the credential.',
    method: 'GET',
    path: `${collection}/whoami`,
    access: V1_ACCESS,
    responses: { 200: { description: 'The authenticated user.', schema: OwnUserSchema } },
    versioned: true,
    async handler({ caller }) {
      const user = await requireOwnUser(context.db.read, caller);
      return versionedResult(user.version, {
        ...(await toUserWithAccessBody(context, caller, user)),
        scopes: ALL_SCOPES.filter((scope) => caller.scopes.has(scope)),
      });
    },
  });

const listUsersOperation = (context: Context) =>
  listOperation(context, {
    id: 'listUsers',
    number: 53,
    summary: 'List users',
    description:
      'Lists the client users of the organization by email address. Requires an admin, or a member with the role `rbac_group_admin` in an assessment group, who gets only id, uid, name and email.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: userList,
    filters: {
      search: 'Return only users whose email address or name contains this text, ignoring case.',
      banned: 'Return only banned users, or exclude them.',
      invited: 'Return only users who have not accepted their invitation, or exclude them.',
    },
    defaultSort: { sort: 'email' },
    async scope(listContext) {
      await requireUserListAccess(listContext);
      return {};
    },
    hasSecret: true,
    schema: ListedUserSchema,
    toRow: (user, { caller }) => (caller.admin ? toUserBody(context, caller, user) : toUserRefBody(user)),
  });

const InviteUserSchema = Type.Object(
  {
    email: Type.String({ format: 'email', maxLength: MAX_EMAIL_LENGTH, examples: ['ada@acme.example'] }),
    name: Type.Optional(Type.String({ maxLength: MAX_TEXT, examples: ['Ada Lovelace'] })),
    first_name: Type.Optional(
      Type.String({
        maxLength: MAX_TEXT,
        examples: ['Ada'],
        description: 'Together with `last_name`, an alternative to `name`.',
      }),
    ),
    last_name: Type.Optional(Type.String({ maxLength: MAX_TEXT, examples: ['Lovelace'] })),
    admin: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether the user is an admin of the organization.' }),
    ),
    assessments: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['acme-web-2026'] }), {
        maxItems: MAX_ASSESSMENTS,
        description: 'The uids of the assessments to grant access to.',
      }),
    ),
    send_invite: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Send the invitation by email if this server can send mail. The response has the link in any case.',
      }),
    ),
    organization_uid: Type.Optional(
      Type.String({
        maxLength: MAX_TEXT,
        examples: ['acme'],
        description: 'The uid of the organization. Required for staff.',
      }),
    ),
  },
  { title: 'New user' },
);

/** Returns the name, which may be sent in two parts. */
function nameOf(body: PartialInput<Static<typeof InviteUserSchema>>): string | undefined {
  return body.name ?? (`${body.first_name ?? ''} ${body.last_name ?? ''}`.trim() || undefined);
}

/** The link is a secret and is not stored, so a replay computes it again. */
const inviteIdempotency = (context: Context): IdempotencyOptions => ({
  omitted: ['invite_url'],
  async recreate({ id }, caller) {
    const [user] = await usersById(context.db.read, [id as number]);
    return { invite_url: user === undefined ? null : toUserBody(context, caller, user).invite_url };
  },
});

const inviteUserOperation = (context: Context) =>
  operation({
    id: 'inviteUser',
    number: 54,
    summary: 'Invite a user',
    description:
      "Invites a person to the organization. Returns 409 for an address that another account has, or whose domain's users sign in through another organization's provider; after too many of these, invitations are a 429 for an hour. Requires an admin.",
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: InviteUserSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    inputs: { organization: 'organization_uid' },
    validate: (body) => validateUserFields({ email: body.email, name: nameOf(body) }),
    responses: {
      201: {
        description: 'The created user, with the link to accept the invitation.',
        schema: UserSchema,
        headers: { Location: LocationHeader },
      },
    },
    versioned: true,
    hasSecret: true,
    idempotency: inviteIdempotency(context),
    async handler({ caller, writeOnce, body }) {
      const now = context.clock();
      const by = { actor: caller, now };
      const { email, admin, assessments, organization_uid: organization } = body;
      const name = nameOf(body);
      const sendsMail = body.send_invite !== false && context.config.smtpUrl !== undefined;
      const result = await writeOnce(async (tx) => {
        const invited = await inviteUser(tx, by, caller, {
          email,
          name,
          admin,
          assessments,
          organization,
        });
        if (invited instanceof DomainError) return invited;
        if (sendsMail) await queueInvitationMail(tx, by, invited);
        const [user] = await usersById(tx, [invited.id]);
        if (user === undefined) throw notFound('user');
        return versionedResult(user.version, await toUserWithAccessBody(context, caller, user, tx), {
          location: `${collection}/${user.id}`,
        });
      });
      if (sendsMail) context.jobs.notify();
      return result;
    },
  });

const getUserOperation = (context: Context) =>
  operation({
    id: 'getUser',
    number: 55,
    summary: 'Get a user',
    description: 'Returns the caller, or, for admins, a user of the organization.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: idParams(ID, 4),
    responses: { 200: { description: 'The user.', schema: UserSchema } },
    versioned: true,
    hasSecret: true,
    async handler({ caller, params: { id } }) {
      const user = await requireManagedUser(context.db.read, caller, id);
      return versionedResult(user.version, await toUserWithAccessBody(context, caller, user));
    },
  });

export default operationsOf('v1', [
  banUserOperation,
  whoAmIOperation,
  listUsersOperation,
  inviteUserOperation,
  getUserOperation,
]);
