import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { invitationUrl } from '../auth/account-links.ts';
import { inviteUser } from '../domain/users/invite-user.ts';
import { describeFieldProblem, DomainError } from '../domain/shared/errors.ts';
import { MAX_NAME_LENGTH } from '../domain/shared/names.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { attributionOf, signedInSession } from '../http/browser-sessions.ts';
import { Button, Checkbox, Field, Form } from '../pages/forms.tsx';
import { sendPage } from '../pages/pages-plugin.tsx';
import { AccountPage } from './account-layout.tsx';
import { GeneratedLink, type GeneratedLinkProps } from './generated-link.tsx';
import { PEOPLE_PATH, requireAdministrator } from './people-page.tsx';
import { MAX_EMAIL_LENGTH } from '../auth/email-addresses.ts';

const PATH = `${PEOPLE_PATH}/invite`;
const MAX_UID_LENGTH = 50;

const InvitationForm = Type.Object({
  email: Type.String({ maxLength: MAX_EMAIL_LENGTH }),
  name: Type.Optional(Type.String({ maxLength: MAX_NAME_LENGTH })),
  organization: Type.Optional(Type.String({ maxLength: MAX_UID_LENGTH })),
  admin: Type.Optional(Type.Literal('yes')),
});

interface Fields {
  email: string;
  name: string;
  organization: string;
  admin: boolean;
}

const EMPTY: Fields = { email: '', name: '', organization: '', admin: false };

interface PageState {
  made?: GeneratedLinkProps;
  rejected?: { fields: Fields; failure: DomainError };
}

/** Where an admin invites people into the organization, and staff into those that they look after. */
export const registerInvitePerson: RouteRegistrar = (app, context) => {
  const { db, keys, config, addresses, clock } = context;

  const show = (request: FastifyRequest, reply: FastifyReply, { made, rejected }: PageState = {}) => {
    const { staff } = signedInSession(request);
    const fields = rejected?.fields ?? EMPTY;
    return sendPage(
      request,
      reply,
      <AccountPage path={PEOPLE_PATH} title="Invite someone">
        {made !== undefined && <GeneratedLink {...made} />}
        <section>
          {made !== undefined && <h2>Invite somebody else</h2>}
          <p>You get a link to hand to them, by which they choose a name and a password.</p>
          <Form action={PATH}>
            <Field
              name="email"
              label="Their e-mail address"
              type="email"
              autocomplete="off"
              value={fields.email}
              error={errorOf(rejected?.failure, 'email', 'The address')}
              maxLength={MAX_EMAIL_LENGTH}
            />
            <Field
              name="name"
              label="Name"
              hint="They can change it."
              autocomplete="off"
              value={fields.name}
              error={errorOf(rejected?.failure, 'name', 'The name')}
              required={false}
              maxLength={MAX_NAME_LENGTH}
            />
            {staff && (
              <Field
                name="organization"
                label="Organization"
                hint="Its uid, of lowercase letters and digits."
                autocomplete="off"
                value={fields.organization}
                error={errorOf(rejected?.failure, 'organization', 'It')}
                maxLength={MAX_UID_LENGTH}
              />
            )}
            <div class="field">
              <Checkbox name="admin" value="yes" checked={fields.admin}>
                Admin of the organization
                <span class="hint">Looks after its people, and reaches all of its assessments.</span>
              </Checkbox>
            </div>
            <Button>Invite</Button>
          </Form>
        </section>
        <p>
          <a href={PEOPLE_PATH}>All people</a>
        </p>
      </AccountPage>,
      { status: rejected === undefined ? 200 : 422 },
    );
  };

  app.get(
    PATH,
    { config: { operation: 'invite-person-page', access: 'session' }, schema: { hide: true } },
    async (request, reply) => {
      requireAdministrator(signedInSession(request));
      return show(request, reply);
    },
  );

  app.post(
    PATH,
    {
      config: { operation: 'invite-person', access: 'session' },
      schema: { hide: true, body: InvitationForm },
    },
    async (request, reply) => {
      const session = signedInSession(request);
      requireAdministrator(session);
      const { email, name = '', organization = '', admin } = request.body;
      const fields = { email, name, organization, admin: admin !== undefined };
      try {
        const invited = await db.write((tx) =>
          inviteUser(tx, attributionOf(request, clock()), session, {
            ...fields,
            name: name.trim() === '' ? undefined : name,
            organization: session.staff ? organization : undefined,
          }),
        );
        const made = {
          email: invited.email,
          done: 'The invitation is made.',
          url: invitationUrl(addresses.clientBaseUrl, keys.secret, invited),
          expiresAt: invited.invitedAt + config.invitationLifetime,
        };
        return await show(request, reply, { made });
      } catch (failure) {
        if (!(failure instanceof DomainError)) throw failure;
        return show(request, reply, { rejected: { fields, failure } });
      }
    },
  );
};

/** @returns what is wrong with a field; what is wrong with no other stands at the address */
function errorOf(failure: DomainError | undefined, property: string, what: string): string | undefined {
  if (failure === undefined) return undefined;
  // The page has no other field that can be taken.
  if (failure.kind === 'conflict') return property === 'email' ? failure.message : undefined;
  const fault = failure.fieldErrors.find((candidate) => candidate.property === property);
  if (fault !== undefined) return `${what} ${describeFieldProblem(fault)}.`;
  return property === 'email' && failure.fieldErrors.length === 0 ? failure.message : undefined;
}
