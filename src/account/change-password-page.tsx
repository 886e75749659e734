import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { validatePassword } from '../auth/password-strength.ts';
import { hashPassword, MAX_TYPED_PASSWORD_LENGTH } from '../auth/passwords.ts';
import { changePassword, passwordStatus } from '../domain/sign-in/passwords.ts';
import { hasSecondFactor, secondFactorsOf } from '../domain/sign-in/second-factors.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { signInWithPassword } from '../domain/sign-in/sign-in-with-password.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf, requireSignedInSession, setSessionCookie } from '../http/browser-sessions.ts';
import { Button, Field, Form, Notice } from '../page-kit/forms.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { Section } from '../page-kit/section.tsx';
import { AccountPage } from './account-layout.tsx';
import { NewPasswordField } from './new-password-field.tsx';
import { isRecentlyConfirmed } from './security-page.tsx';
import { confirmIdentityPath } from './security-sections.tsx';
import { MESSAGES } from './messages.ts';

const PATH = '/account/password';

const PasswordFormSchema = Type.Object({
  current: Type.String({ maxLength: MAX_TYPED_PASSWORD_LENGTH }),
  password: Type.String({ maxLength: MAX_TYPED_PASSWORD_LENGTH }),
});

interface RejectedForm {
  status: 422 | 429;
  currentError?: string;
  passwordError?: string;
}

const showForm = async (
  { db }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { changed = false, rejected }: { changed?: boolean; rejected?: RejectedForm } = {},
) => {
  const { userId, email } = requireSignedInSession(request);
  const use = await passwordStatus(db.read, userId);
  return sendHtmlPage(
    request,
    reply,
    <AccountPage path="/account/security" title={MESSAGES.password.title}>
      {changed && <Notice kind="success">{MESSAGES.password.changed}</Notice>}
      <Section title={MESSAGES.password.title} hint={MESSAGES.password.consequences}>
        {use === 'provider' && <p>{MESSAGES.password.sso}</p>}
        {use === 'none' && (
          <p>
            {MESSAGES.password.none} <a href="/reset-password/request">{MESSAGES.password.forgot}</a>
          </p>
        )}
        {use === 'password' && (
          <Form action={PATH}>
            <Field
              name="current"
              label={MESSAGES.password.current}
              type="password"
              autocomplete="current-password"
              error={rejected?.currentError}
              maxLength={MAX_TYPED_PASSWORD_LENGTH}
              autofocus={rejected?.currentError !== undefined}
            />
            <NewPasswordField
              email={email}
              label={MESSAGES.password.new}
              error={rejected?.passwordError}
              autofocus={rejected?.passwordError !== undefined}
            />
            <Button>{MESSAGES.password.change}</Button>
          </Form>
        )}
      </Section>
    </AccountPage>,
    { status: rejected?.status ?? 200 },
  );
};

/** Accounts with a second factor also prove that one, unless they have just signed in with it. */
const needsConfirmation = async ({ db, clock }: Context, session: Session) =>
  !isRecentlyConfirmed(session, clock()) &&
  hasSecondFactor(await secondFactorsOf(db.read, session.userId)) &&
  (await passwordStatus(db.read, session.userId)) === 'password';

export const registerPassword: RouteRegistrar = (app, context) => {
  const { db, clock } = context;

  app.get(
    PATH,
    {
      config: { operation: 'password-page', access: 'session' },
      schema: {
        hide: true,
        querystring: Type.Object({ done: Type.Optional(Type.String({ maxLength: 20 })) }),
      },
    },
    async (request, reply) => {
      const changed = request.query.done === 'changed';
      // Ten minutes may end between the change and its notice.
      if (!changed && (await needsConfirmation(context, requireSignedInSession(request))))
        return reply.redirect(confirmIdentityPath(PATH), 303);
      return showForm(context, request, reply, { changed });
    },
  );

  app.post(
    PATH,
    {
      config: { operation: 'change-password', access: 'session' },
      schema: { hide: true, body: PasswordFormSchema },
    },
    async (request, reply) => {
      const session = requireSignedInSession(request);
      const { current, password } = request.body;
      if ((await passwordStatus(db.read, session.userId)) !== 'password')
        return showForm(context, request, reply);
      if (await needsConfirmation(context, session)) return reply.redirect(confirmIdentityPath(PATH), 303);

      const passwordError =
        password === current
          ? MESSAGES.password.same
          : await validatePassword(password, [
              session.email,
              session.name ?? '',
              session.organizationName ?? '',
            ]);
      if (passwordError !== undefined)
        return showForm(context, request, reply, { rejected: { status: 422, passwordError } });

      // Attempts count towards the lock of the sign-in page.
      const attempt = { email: session.email, password: current, address: request.address };
      const checked = await signInWithPassword(context, changeContextOf(request, clock()), attempt);
      if (checked.outcome === 'locked') {
        reply.header('retry-after', checked.retryAfter);
        const currentError = MESSAGES.password.tooManyAttempts;
        return showForm(context, request, reply, { rejected: { status: 429, currentError } });
      }
      if (checked.outcome === 'refused') {
        const currentError = MESSAGES.password.wrong;
        return showForm(context, request, reply, { rejected: { status: 422, currentError } });
      }
      const passwordHash = await hashPassword(password);
      const secret = await db.write((tx) =>
        changePassword(tx, changeContextOf(request, clock()), session, passwordHash),
      );
      setSessionCookie(context, reply, secret);
      return reply.redirect(`${PATH}?done=changed`, 303);
    },
  );
};
