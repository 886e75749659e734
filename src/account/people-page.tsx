import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { invitationUrl } from '../auth/invitations.ts';
import { resetUrl } from '../auth/reset-links.ts';
import { administeredUser, administersOthers } from '../domain/people/administered-users.ts';
import { Failure, missing } from '../domain/shared/failure.ts';
import { renewInvitation } from '../domain/people/invitations.ts';
import { createPasswordReset } from '../domain/sign-in/password-resets.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import type { RegisterRoutes } from '../http/area-plugin.ts';
import { actOf, sessionOf } from '../http/browser-sessions.ts';
import { Button, Field, Form, Notice } from '../pages/forms.tsx';
import { sendPage } from '../pages/pages-plugin.tsx';
import { Time } from '../pages/time-element.tsx';
import { AccountPage } from './account-layout.tsx';
import { MAX_EMAIL_LENGTH } from './sign-in-page.tsx';

const PATH = '/account/people';

const LinkForm = Type.Object({
  email: Type.String({ maxLength: MAX_EMAIL_LENGTH }),
  link: Type.Union([Type.Literal('password'), Type.Literal('invitation')]),
});

/** A link that was just made. */
interface MadeLink {
  email: string;
  purpose: 'password' | 'invitation';
  url: string;
  expiresAt: number;
}

interface Rejected {
  email: string;
  error: string;
}

/** Where an admin makes links for the people of the organization, and staff for those of every one. */
export const registerPeople: RegisterRoutes = (app, context) => {
  const { db, keys, config, addresses, clock } = context;

  const show = (
    request: FastifyRequest,
    reply: FastifyReply,
    { made, rejected }: { made?: MadeLink; rejected?: Rejected } = {},
  ) =>
    sendPage(
      request,
      reply,
      <AccountPage path="/account" title="Links for people">
        {made !== undefined && <Made {...made} />}
        <section>
          <h2>Make a link</h2>
          <p>
            Somebody forgot their password, or their invitation got too old? Make a link here, and hand it to
            them in a way that nobody else reads: whoever has it can use it. A new link ends the one before.
          </p>
          <Form action={PATH}>
            <Field
              name="email"
              label="Their e-mail address"
              type="email"
              autocomplete="off"
              value={rejected?.email}
              error={rejected?.error}
              maxLength={MAX_EMAIL_LENGTH}
            />
            <div class="actions">
              <Button name="link" value="password">
                Link for a new password
              </Button>
              <Button kind="plain" name="link" value="invitation">
                Renew the invitation
              </Button>
            </div>
          </Form>
        </section>
      </AccountPage>,
      { status: rejected === undefined ? 200 : 422 },
    );

  app.get(
    PATH,
    { config: { operation: 'people-page', access: 'session' }, schema: { hide: true } },
    async (request, reply) => {
      requireAdministrator(sessionOf(request));
      return show(request, reply);
    },
  );

  app.post(
    PATH,
    { config: { operation: 'make-link', access: 'session' }, schema: { hide: true, body: LinkForm } },
    async (request, reply) => {
      const session = sessionOf(request);
      requireAdministrator(session);
      const { email, link } = request.body;
      try {
        return show(request, reply, { made: await make(request, session, email, link) });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const words =
          error.kind === 'missing'
            ? 'There is no such user among those you look after. Check the address.'
            : error.message;
        return show(request, reply, { rejected: { email, error: words } });
      }
    },
  );

  const make = async (
    request: FastifyRequest,
    session: Session,
    typed: string,
    purpose: MadeLink['purpose'],
  ): Promise<MadeLink> => {
    const { id, email } = await administeredUser(db.read, session, typed);
    if (id === session.userId)
      throw new Failure('forbidden', 'That is you. Change your own password under Security.');
    if (purpose === 'invitation') {
      const invited = await db.write((tx) => renewInvitation(tx, actOf(request, clock()), id));
      const url = invitationUrl(addresses.clientBaseUrl, keys.secret, invited);
      return { email, purpose, url, expiresAt: invited.invitedAt + config.invitationLifetime };
    }
    const { secret, expiresAt } = await db.write((tx) =>
      createPasswordReset(tx, actOf(request, clock()), id),
    );
    return { email, purpose, url: resetUrl(addresses.clientBaseUrl, secret), expiresAt };
  };
};

/** @throws Failure `missing` for everybody who looks after nobody */
function requireAdministrator(session: Session): void {
  if (!administersOthers(session)) throw missing('page');
}

function Made({ email, purpose, url, expiresAt }: MadeLink) {
  return (
    <section>
      <Notice kind="success">
        {purpose === 'password' ? 'A link for a new password is made.' : 'The invitation is renewed.'} It is
        shown this once.
      </Notice>
      <p>
        For <strong>{email}</strong>, until <Time at={expiresAt} />:
      </p>
      <code class="secret">{url}</code>
    </section>
  );
}
