import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { MAX_EMAIL_LENGTH } from '../auth/email-addresses.ts';
import { MAX_TYPED_PASSWORD_LENGTH } from '../auth/passwords.ts';
import { hasIdentityProviders } from '../domain/sign-in/identity-providers.ts';
import { endSessionIfAny } from '../domain/sign-in/end-sessions.ts';
import { signInWithPassword } from '../domain/sign-in/sign-in-with-password.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf, clearSessionCookie, loadSession } from '../http/browser-sessions.ts';
import { cspFormActionFor } from '../oauth/authorization-request.ts';
import { safeReturnPath } from '../page-kit/paths.ts';
import { Button, Field, Form, Notice } from '../page-kit/forms.tsx';
import { Icon } from '../page-kit/icons.tsx';
import { Page } from '../page-kit/layout.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { PASSKEY_SCRIPTS, PasskeySignIn } from './passkey-form.tsx';
import { continueSignIn } from './sign-in-flow.ts';
import { MESSAGES } from './messages.ts';

/** Characters. Authorization requests are the longest destinations. */
export const MAX_RETURN_LENGTH = 16_384;

export const ReturnToQuery = Type.Object({
  to: Type.Optional(Type.String({ maxLength: MAX_RETURN_LENGTH })),
});

const SignInFormSchema = Type.Object({
  email: Type.String({ maxLength: MAX_EMAIL_LENGTH }),
  password: Type.String({ maxLength: MAX_TYPED_PASSWORD_LENGTH }),
  to: Type.Optional(Type.String({ maxLength: MAX_RETURN_LENGTH })),
});

/** One message for every reason, so that it reveals nothing about the account. */
const REJECTED = MESSAGES.signIn.refused;

/** Signs in with a password, and signs out. */
export const registerSignIn: RouteRegistrar = (app, context) => {
  const { db, clock } = context;

  const showForm = async (
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string | undefined,
    rejected?: { email: string; status: 401 | 429 },
  ) => {
    const hasProviders = await hasIdentityProviders(db.read);
    return sendHtmlPage(
      request,
      reply,
      <Page
        title={MESSAGES.signIn.title}
        heading={MESSAGES.signIn.heading}
        subheading={new URL(context.addresses.clientBaseUrl).hostname}
        scripts={PASSKEY_SCRIPTS}
      >
        {rejected !== undefined && <Notice kind="error">{REJECTED}</Notice>}
        <Form action="/sign-in">
          <input type="hidden" name="to" value={safeReturnPath(returnTo)} />
          <Field
            name="email"
            label={MESSAGES.signIn.email}
            type="email"
            autocomplete="username"
            value={rejected?.email}
            maxLength={MAX_EMAIL_LENGTH}
            autofocus={rejected === undefined}
          />
          <Field
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            maxLength={MAX_TYPED_PASSWORD_LENGTH}
            autofocus={rejected !== undefined}
            link={
              <a href="/reset-password/request">
                {MESSAGES.signIn.forgot}
                <span class="hidden-label"> {MESSAGES.signIn.resetPassword}</span>
              </a>
            }
          />
          <Button>{MESSAGES.signIn.title}</Button>
        </Form>
        <div class="ways">
          <p class="or">{MESSAGES.signIn.or}</p>
          <PasskeySignIn context={context} returnTo={returnTo} />
          {hasProviders && (
            <a
              class="button plain"
              href={`/sign-in/organization?${new URLSearchParams({ to: safeReturnPath(returnTo) })}`}
            >
              <Icon name="key" />
              {MESSAGES.signIn.sso}
            </a>
          )}
        </div>
      </Page>,
      {
        status: rejected?.status ?? 200,
        formTargets: await cspFormActionFor(context, safeReturnPath(returnTo)),
      },
    );
  };

  app.get(
    '/sign-in',
    {
      config: { operation: 'sign-in-page', access: 'open' },
      schema: { hide: true, querystring: ReturnToQuery },
    },
    async (request, reply) => {
      const { to: returnTo } = request.query;
      if (request.session?.state === 'complete') return reply.redirect(safeReturnPath(returnTo), 303);
      return showForm(request, reply, returnTo);
    },
  );

  app.post(
    '/sign-in',
    { config: { operation: 'sign-in', access: 'open' }, schema: { hide: true, body: SignInFormSchema } },
    async (request, reply) => {
      const { email, password, to: returnTo } = request.body;
      const attempt = { email, password, address: request.address };
      const signIn = await signInWithPassword(context, changeContextOf(request, clock()), attempt);
      if (signIn.outcome === 'signed-in') {
        const { userId, organizationId, passwordHash } = signIn;
        return continueSignIn(
          context,
          request,
          reply,
          { userId, organizationId, method: 'password', passwordHash, isMultiFactor: false },
          returnTo,
        );
      }
      if (signIn.outcome === 'locked') reply.header('retry-after', signIn.retryAfter);
      // RFC 9110, section 15.5.2: a 401 names an authentication scheme. Browsers show no dialog for this one.
      else reply.header('www-authenticate', 'Form realm="assay"');
      return showForm(request, reply, returnTo, { email, status: signIn.outcome === 'locked' ? 429 : 401 });
    },
  );

  app.post(
    '/sign-out',
    { config: { operation: 'sign-out', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      const session = await loadSession(context, request);
      if (session !== null)
        await db.write((tx) => endSessionIfAny(tx, changeContextOf(request, clock()), session, session.id));
      clearSessionCookie(context, reply);
      return reply.redirect('/sign-in', 303);
    },
  );
};
