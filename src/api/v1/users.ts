import { Type } from 'typebox';
import { invitationUrl } from '../../auth/invitations.ts';
import type { Context } from '../../context.ts';
import { banUserAs } from '../../domain/people/bans.ts';
import { operation } from '../../http/operation.ts';
import { MAX_RESULTS, MAX_TEXT, storedText } from '../../http/schemas.ts';
import { versioned } from '../../http/versions.ts';
import { idPath, V1_ACCESS } from './row-ids.ts';

const User = Type.Object(
  {
    id: Type.Integer(),
    email: storedText('spare@acme.example'),
    assessment_ids: Type.Array(storedText('acme-web-2026'), {
      maxItems: MAX_RESULTS,
      description: 'The assessments that the user can access.',
    }),
    banned: Type.Boolean(),
    admin: Type.Optional(Type.Boolean({ description: 'Shown to admins only.' })),
    invite_url: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        maxLength: MAX_TEXT,
        examples: [null],
        description: 'Shown to admins only; `null` once the invitation is accepted.',
      }),
    ),
  },
  { title: 'User' },
);

const declareBanUser = ({ addresses, clock, db, keys }: Context) =>
  operation({
    id: 'banUser',
    number: 6,
    summary: 'Ban or delete a user',
    description:
      'Bans the user, which ends their sessions, tokens and API keys at once. A user who was invited and never signed in is deleted. For admins.',
    method: 'DELETE',
    path: '/users/:id',
    access: V1_ACCESS,
    params: idPath('The id of a user.', 6),
    answers: { 200: { description: 'The user is banned.', schema: User } },
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

export const USER_OPERATIONS = [declareBanUser];
