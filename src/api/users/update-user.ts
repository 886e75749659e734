import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { changeUserAs } from '../../domain/users/update-user.ts';
import { usersById } from '../../domain/users/user-list.ts';
import { invalid, missing } from '../../domain/shared/errors.ts';
import { SMALL_BODY } from '../../http/json-bodies.ts';
import { operation } from '../../http/operation.ts';
import { MAX_TEXT } from '../../http/schemas.ts';
import { versioned } from '../../http/etags.ts';
import { idPath, V1_ACCESS } from '../v1-params.ts';
import { UserBody, userBody } from './user-schema.ts';

const MAX_ASSESSMENTS = 1_000;

const UserChangeQuery = Type.Object({
  admin: Type.Optional(Type.Boolean({ description: 'As in the body, which may then be missing.' })),
  reactivate: Type.Optional(Type.Boolean({ description: 'As in the body, which may then be missing.' })),
});

const UserChangeBody = Type.Object(
  {
    admin: Type.Optional(Type.Boolean({ description: 'Of the organization.' })),
    name: Type.Optional(Type.String({ maxLength: MAX_TEXT, examples: ['Ada Lovelace'] })),
    assessments: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['acme-web-2026'] }), {
        maxItems: MAX_ASSESSMENTS,
        description: 'The uids of all assessments that they are given access to; others are taken away.',
      }),
    ),
    reactivate: Type.Optional(
      Type.Boolean({
        description: 'Ends a ban. Sessions, tokens and links that the ban has ended do not come back.',
      }),
    ),
    reinvite: Type.Optional(
      Type.Boolean({
        description: 'Makes a new link for who has not accepted the invitation, and ends the one before.',
      }),
    ),
  },
  { title: 'User change', examples: [{ name: 'Ada Lovelace', assessments: ['acme-web-2026'] }] },
);

const declareUpdateUser = (context: Context) =>
  operation({
    id: 'updateUser',
    number: 56,
    summary: 'Change a user',
    description: 'What is absent stays. For admins; the last one who has signed in stays one.',
    method: 'PUT',
    path: '/users/:id',
    access: V1_ACCESS,
    params: idPath('The id of a user.', 4),
    query: UserChangeQuery,
    body: UserChangeBody,
    bodyParameters: ['admin', 'reactivate'],
    bodyLimit: SMALL_BODY,
    answers: { 200: { description: 'The user as they are now.', schema: UserBody } },
    versioned: true,
    async handler({ caller, expected, params: { id }, query, body }) {
      const act = { actor: caller, now: context.clock() };
      const change = {
        ...body,
        admin: sameTwice('admin', query.admin, body.admin),
        reactivate: sameTwice('reactivate', query.reactivate, body.reactivate),
      };
      const [user] = await context.db.write(async (tx) => {
        await changeUserAs(tx, act, id, change, expected);
        return usersById(tx, [id]);
      });
      if (user === undefined) throw missing('user');
      return versioned(user.version, userBody(context, caller, user));
    },
  });

/** @returns what the query or the body says, which must not differ */
function sameTwice(
  property: string,
  query: boolean | undefined,
  body: boolean | undefined,
): boolean | undefined {
  if (query !== undefined && body !== undefined && query !== body)
    throw invalid({ property, message: 'differs from the one in the query', value: body });
  return query ?? body;
}

export const USER_CHANGE_OPERATIONS = [declareUpdateUser];
