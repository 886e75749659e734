import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { passwordResetUrl } from '../auth/account-links.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { createPasswordReset } from '../domain/sign-in/password-resets.ts';
import { type ManagedUser, managedUserByUid } from '../domain/users/user-list.ts';
import { changeContextOf, requireSignedInSession } from '../http/browser-sessions.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { SecretField } from '../page-kit/copy-field.tsx';
import { Button, Form, Notice } from '../page-kit/forms.tsx';
import { FramedPage } from '../page-kit/frame.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { RelativeTime } from '../page-kit/relative-time.tsx';
import { MESSAGES } from './messages.ts';

const PEOPLE_PATH = '/account/people';
const PATH = `${PEOPLE_PATH}/:uid/password-link`;
const CONSOLE_PEOPLE_PATH = '/people';
const UserPathSchema = Type.Object({ uid: Type.String({ maxLength: 64 }) });

interface PageState {
  created?: { url: string; expiresAt: number };
  error?: string;
}

/**
 * The page on which an admin or staff create a password reset link for a user. The console links to it, as the API has
 * no such operation.
 */
export const registerPasswordLink: RouteRegistrar = (app, { db, addresses, clock }) => {
  const show = (
    request: FastifyRequest,
    reply: FastifyReply,
    user: ManagedUser,
    { created, error }: PageState = {},
  ) =>
    sendHtmlPage(
      request,
      reply,
      <FramedPage title={MESSAGES.passwordLink.title}>
        <section class="stack">
          {error !== undefined && <Notice kind="error">{error}</Notice>}
          {created === undefined ? (
            <>
              <p>
                {MESSAGES.passwordLink.intro} <strong>{user.email}</strong>
              </p>
              <p>{MESSAGES.passwordLink.rules}</p>
              <Form action={`${PEOPLE_PATH}/${user.uid}/password-link`}>
                <Button>{MESSAGES.passwordLink.create}</Button>
              </Form>
            </>
          ) : (
            <>
              <Notice kind="success">{MESSAGES.passwordLink.created}</Notice>
              <p>
                {MESSAGES.passwordLink.give} <strong>{user.email}</strong> {MESSAGES.passwordLink.secret}{' '}
                <RelativeTime at={created.expiresAt} />.
              </p>
              <SecretField text={created.url} label={MESSAGES.passwordLink.copy} />
            </>
          )}
          <p>
            <a href={`${CONSOLE_PEOPLE_PATH}/${user.id}`}>{MESSAGES.passwordLink.back}</a>
          </p>
        </section>
      </FramedPage>,
      { status: error === undefined ? 200 : 422 },
    );

  app.get(
    PATH,
    {
      config: { operation: 'password-link-page', access: 'session' },
      schema: { hide: true, params: UserPathSchema },
    },
    async (request, reply) =>
      show(
        request,
        reply,
        await managedUserByUid(db.read, requireSignedInSession(request), request.params.uid),
      ),
  );

  app.post(
    PATH,
    {
      config: { operation: 'make-password-link', access: 'session' },
      schema: { hide: true, params: UserPathSchema },
    },
    async (request, reply) => {
      const session = requireSignedInSession(request);
      const user = await managedUserByUid(db.read, session, request.params.uid);
      try {
        if (user.id === session.userId) throw new DomainError('own-account');
        const { secret, expiresAt } = await db.write((tx) =>
          createPasswordReset(tx, changeContextOf(request, clock()), user.id),
        );
        const created = { url: passwordResetUrl(addresses.clientBaseUrl, secret), expiresAt };
        return await show(request, reply, user, { created });
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind === 'not-found') throw error;
        return show(request, reply, user, { error: error.message });
      }
    },
  );

  // The pages for managing users moved to the console.
  app.get(
    PEOPLE_PATH,
    { config: { operation: 'people-redirect', access: 'session' }, schema: { hide: true } },
    (_request, reply) => reply.redirect(CONSOLE_PEOPLE_PATH, 303),
  );
};
