import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { invitationUrl } from '../auth/account-links.ts';
import { passwordResetUrl } from '../auth/reset-links.ts';
import { banUser } from '../domain/users/ban-user.ts';
import { renewInvitation } from '../domain/users/invitations.ts';
import { type ManagedUser, managedUserByUid } from '../domain/users/invite-user.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { createPasswordReset } from '../domain/sign-in/password-resets.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { attributionOf, signedInSession } from '../http/browser-sessions.ts';
import { Button, Form, Notice } from '../pages/forms.tsx';
import { sendPage } from '../pages/pages-plugin.tsx';
import { RelativeTime } from '../pages/relative-time.tsx';
import { AccountPage } from './account-layout.tsx';
import { GeneratedLink, type GeneratedLinkProps } from './generated-link.tsx';
import { PEOPLE_PATH, requireAdministrator, userStateLabel } from './people-page.tsx';

const PATH = `${PEOPLE_PATH}/:uid`;
const PersonPath = Type.Object({ uid: Type.String({ maxLength: 64 }) });

/** What stands on the page beside the person. */
interface PageState {
  made?: GeneratedLinkProps;
  /** Why something was not done. */
  refused?: string;
}

/** One of the people whom an admin, or staff, look after, with what can be done for them. */
export const registerPerson: RouteRegistrar = (app, context) => {
  const { db, keys, config, addresses, clock } = context;

  const show = (
    request: FastifyRequest,
    reply: FastifyReply,
    person: ManagedUser,
    { made, refused }: PageState = {},
  ) => {
    const { uid, staff } = signedInSession(request);
    return sendPage(
      request,
      reply,
      <AccountPage path={PEOPLE_PATH} title={person.name ?? person.email}>
        {refused !== undefined && <Notice kind="error">{refused}</Notice>}
        {made !== undefined && <GeneratedLink {...made} />}
        <About person={person} withOrganization={staff} />
        {person.uid === uid ? (
          <section>
            <p>
              This is your own account. Your password and second factor are under{' '}
              <a href="/account/security">Security</a>.
            </p>
          </section>
        ) : (
          person.state !== 'banned' && (
            <>
              <LinkSection person={person} />
              <BanSection person={person} />
            </>
          )
        )}
        <p>
          <a href={PEOPLE_PATH}>All people</a>
        </p>
      </AccountPage>,
      { status: refused === undefined ? 200 : 422 },
    );
  };

  /** Does something for a person whom the session administers, other than oneself, and shows why if it cannot be done. */
  const doFor = async (
    request: FastifyRequest<{ Params: { uid: string } }>,
    reply: FastifyReply,
    action: (person: ManagedUser) => Promise<FastifyReply>,
  ) => {
    const session = signedInSession(request);
    requireAdministrator(session);
    const person = await managedUserByUid(db.read, session, request.params.uid);
    try {
      if (person.id === session.userId) throw new DomainError('forbidden', { code: 'own-account' });
      return await action(person);
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind === 'not-found') throw error;
      return show(request, reply, person, { refused: error.message });
    }
  };

  app.get(
    PATH,
    { config: { operation: 'person-page', access: 'session' }, schema: { hide: true, params: PersonPath } },
    async (request, reply) => {
      const session = signedInSession(request);
      requireAdministrator(session);
      return show(request, reply, await managedUserByUid(db.read, session, request.params.uid));
    },
  );

  app.post(
    `${PATH}/password-link`,
    {
      config: { operation: 'make-password-link', access: 'session' },
      schema: { hide: true, params: PersonPath },
    },
    async (request, reply) =>
      doFor(request, reply, async (person) => {
        const { secret, expiresAt } = await db.write((tx) =>
          createPasswordReset(tx, attributionOf(request, clock()), person.id),
        );
        const url = passwordResetUrl(addresses.clientBaseUrl, secret);
        const made = { email: person.email, done: 'A link for a new password is made.', url, expiresAt };
        return show(request, reply, person, { made });
      }),
  );

  app.post(
    `${PATH}/invitation`,
    {
      config: { operation: 'renew-invitation', access: 'session' },
      schema: { hide: true, params: PersonPath },
    },
    async (request, reply) =>
      doFor(request, reply, async (person) => {
        const invited = await db.write((tx) =>
          renewInvitation(tx, attributionOf(request, clock()), person.id),
        );
        const url = invitationUrl(addresses.clientBaseUrl, keys.secret, invited);
        const expiresAt = invited.invitedAt + config.invitationLifetime;
        const made = { email: person.email, done: 'The invitation is renewed.', url, expiresAt };
        return show(request, reply, person, { made });
      }),
  );

  app.post(
    `${PATH}/ban`,
    { config: { operation: 'ban-person', access: 'session' }, schema: { hide: true, params: PersonPath } },
    async (request, reply) =>
      doFor(request, reply, async (person) => {
        const { actor, now } = attributionOf(request, clock());
        const { organizationId, admin, staff, assignedOrganizations } = signedInSession(request);
        const act = {
          actor: { ...actor, organizationId, admin, staff, assignedOrganizations },
          now,
        };
        const { deleted } = await db.write((tx) => banUser(tx, act, person.id));
        return reply.redirect(`${PEOPLE_PATH}?done=${deleted ? 'deleted' : 'banned'}`, 303);
      }),
  );
};

function About({ person, withOrganization }: { person: ManagedUser; withOrganization: boolean }) {
  return (
    <section>
      <dl>
        <dt>E-mail address</dt>
        <dd>{person.email}</dd>
        {withOrganization && (
          <>
            <dt>Organization</dt>
            <dd>{person.organization}</dd>
          </>
        )}
        <dt>Role</dt>
        <dd>{person.admin ? 'Admin' : 'User'}</dd>
        <dt>Second factor</dt>
        <dd>{person.secondFactor ? 'On' : 'Off'}</dd>
        <dt>State</dt>
        <dd>
          <span class={`state ${person.state}`}>{userStateLabel(person.state)}</span>
        </dd>
        <dt>Last seen</dt>
        <dd>{person.lastSeenAt === null ? 'Never' : <RelativeTime at={person.lastSeenAt} />}</dd>
        <dt>Account made</dt>
        <dd>
          <RelativeTime at={person.createdAt} />
        </dd>
      </dl>
    </section>
  );
}

function LinkSection({ person: { uid, state } }: { person: ManagedUser }) {
  return state === 'invited' ? (
    <section>
      <h2>Invitation</h2>
      <p>They have not accepted it. A new link ends the one before, and its time begins anew.</p>
      <Form action={`${PEOPLE_PATH}/${uid}/invitation`}>
        <Button kind="plain">Renew the invitation</Button>
      </Form>
    </section>
  ) : (
    <section>
      <h2>New password</h2>
      <p>
        For somebody who forgot theirs: a link by which they set a new one, good for an hour and once. A new
        link ends the one before.
      </p>
      <Form action={`${PEOPLE_PATH}/${uid}/password-link`}>
        <Button kind="plain">Make a link for a new password</Button>
      </Form>
    </section>
  );
}

function BanSection({ person: { uid, state } }: { person: ManagedUser }) {
  return (
    <section>
      <h2>Ban</h2>
      <p>
        A ban ends sessions, tokens and keys at once, everywhere.{' '}
        {state === 'invited'
          ? 'Someone who never signed in and has no token is deleted instead.'
          : 'It cannot be undone on these pages.'}
      </p>
      <details>
        <summary>Ban this person</summary>
        <Form action={`${PEOPLE_PATH}/${uid}/ban`}>
          <Button kind="danger">Yes, ban them now</Button>
        </Form>
      </details>
    </section>
  );
}
