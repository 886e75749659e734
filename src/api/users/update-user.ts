import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { updateUser } from '../../domain/users/update-user.ts';
import { validateUserFields } from '../../domain/users/users.ts';
import { usersById } from '../../domain/users/user-list.ts';
import { type FieldError, invalidInput, notFound } from '../../domain/shared/errors.ts';
import { SMALL_BODY_LIMIT } from '../../http/json-bodies.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { MAX_TEXT } from '../../http/schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';
import { toUserWithAccessBody, UserSchema } from './user-schema.ts';

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
        description: '`true` lifts a ban. Sessions, tokens and links that the ban ended are not restored.',
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
    validate: ({ name }) => validateUserFields({ name }),
    responses: { 200: { description: 'The updated user.', schema: UserSchema } },
    versioned: true,
    hasSecret: true,
    async handler({ caller, ifMatch, params: { id }, query, body, write }) {
      const by = { actor: caller, now: context.clock() };
      const errors = [...findDifferences(query, body), ...validateUserFields({ name: body.name })];
      if (errors.length > 0) throw invalidInput(errors);
      const change = {
        ...body,
        admin: query.admin ?? body.admin,
        reactivate: query.reactivate ?? body.reactivate,
      };
      const [user] = await write(async (tx) => {
        await updateUser(tx, by, id, change, ifMatch);
        return usersById(tx, [id]);
      });
      if (user === undefined) throw notFound('user');
      return versionedResult(user.version, await toUserWithAccessBody(context, caller, user));
    },
  });

/** Returns errors for properties that differ in query and body. */
function findDifferences(
  query: Static<typeof UpdateUserQuerySchema>,
  body: Static<typeof UpdateUserSchema>,
): FieldError[] {
  return (['admin', 'reactivate'] as const).flatMap((property): FieldError[] =>
    query[property] === undefined || body[property] === undefined || query[property] === body[property]
      ? []
      : [{ property, code: 'differs-from-query', value: body[property] }],
  );
}

export default operationsOf('v1', [updateUserOperation]);
