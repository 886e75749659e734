import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { updateUser } from '../../domain/users/update-user.ts';
import { usersById } from '../../domain/users/user-list.ts';
import { invalidInput, notFound } from '../../domain/shared/errors.ts';
import { SMALL_BODY_LIMIT } from '../../http/json-bodies.ts';
import { operation } from '../../http/operation.ts';
import { MAX_TEXT } from '../../http/schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';
import { UserSchema, toUserBody } from './user-schema.ts';

const MAX_ASSESSMENTS = 1_000;

const UpdateUserQuerySchema = Type.Object({
  admin: Type.Optional(Type.Boolean({ description: 'Same as in the body, which may then be absent.' })),
  reactivate: Type.Optional(Type.Boolean({ description: 'Same as in the body, which may then be absent.' })),
});

const UpdateUserSchema = Type.Object(
  {
    admin: Type.Optional(Type.Boolean({ description: 'Whether the user is an admin of the organization.' })),
    name: Type.Optional(Type.String({ maxLength: MAX_TEXT, examples: ['Ada Lovelace'] })),
    assessments: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['acme-web-2026'] }), {
        maxItems: MAX_ASSESSMENTS,
        description:
          'The uids of all assessments that the user has access to. Access to other assessments is revoked.',
      }),
    ),
    reactivate: Type.Optional(
      Type.Boolean({
        description: '`false` lifts a ban. Sessions, tokens and links that the ban ended are not restored.',
      }),
    ),
    reinvite: Type.Optional(
      Type.Boolean({
        description:
          'Creates a new invitation link for a user who has not accepted the invitation, and invalidates the previous one.',
      }),
    ),
  },
  { title: 'User change', examples: [{ name: 'Ada Lovelace', assessments: ['acme-web-2026'] }] },
);

const updateUserOperation = (context: Context) =>
  operation({
    id: 'updateUser',
    number: 56,
    summary: 'Update a user',
    description:
      'An absent property is unchanged. Requires an admin. The last admin who has signed in cannot lose that role.',
    method: 'PUT',
    path: '/users/:id',
    access: V1_ACCESS,
    params: idParams('The id of a user.', 4),
    query: UpdateUserQuerySchema,
    body: UpdateUserSchema,
    bodyParameters: ['admin', 'reactivate'],
    bodyLimit: SMALL_BODY_LIMIT,
    responses: { 200: { description: 'The updated user.', schema: UserSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params: { id }, query, body, write }) {
      const by = { actor: caller, now: context.clock() };
      const change = {
        ...body,
        admin: resolveDuplicate('admin', query.admin, body.admin),
        reactivate: resolveDuplicate('reactivate', query.reactivate, body.reactivate),
      };
      const [user] = await write(async (tx) => {
        await updateUser(tx, by, id, change, ifMatch);
        return usersById(tx, [id]);
      });
      if (user === undefined) throw notFound('user');
      return versionedResult(user.version, toUserBody(context, caller, user));
    },
  });

/** Returns the value from the query or the body. @throws DomainError `invalid` if they differ */
function resolveDuplicate(
  property: string,
  query: boolean | undefined,
  body: boolean | undefined,
): boolean | undefined {
  if (query !== undefined && body !== undefined && query !== body)
    throw invalidInput({ property, code: 'differs-from-query', value: body });
  return query ?? body;
}

export const UPDATE_USER_OPERATIONS = [updateUserOperation];
