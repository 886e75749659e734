import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { MAX_EMAIL_LENGTH } from '../auth/email-addresses.ts';
import { validatePassword } from '../auth/password-strength.ts';
import { hashPassword, MAX_TYPED_PASSWORD_LENGTH } from '../auth/passwords.ts';
import { DomainError } from '../domain/shared/errors.ts';
import {
  type PasswordReset,
  findPasswordReset,
  redeemPasswordReset,
} from '../domain/sign-in/password-resets.ts';
import { queueResetMail, type PasswordResetRequest } from '../domain/sign-in/request-password-reset.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf } from '../http/browser-sessions.ts';
import { Button, Field, Form, Notice } from '../page-kit/forms.tsx';
import { Page } from '../page-kit/layout.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { InvalidLink, LINK_SCRIPTS, MAX_LINK_TOKEN_LENGTH } from './invalid-link.tsx';
import { NewPasswordField } from './new-password-field.tsx';
import { continueSignIn } from './sign-in-flow.ts';
import { MESSAGES } from './messages.ts';

const PATH = '/reset-password';

const TokenSchema = Type.String({ maxLength: MAX_LINK_TOKEN_LENGTH });

/** Sets a new password by a link: the page that requests one by mail, and the page that the link opens. */
export const registerReset: RouteRegistrar = (app, context) => {
  registerRequest(app, context);
  const { db, clock } = context;

  const showInvalidLink = (request: FastifyRequest, reply: FastifyReply, status: 404 | 410) =>
    sendHtmlPage(
      request,
      reply,
      <InvalidLink title={MESSAGES.reset.invalid}>
        <p>{MESSAGES.reset.invalidWhy}</p>
        <p>
          <a href="/reset-password/request">{MESSAGES.reset.requestNew}</a>
          {MESSAGES.reset.orAsk}
        </p>
      </InvalidLink>,
      { status },
    );

  const showForm = (
    request: FastifyRequest,
    reply: FastifyReply,
    token: string,
    { email }: PasswordReset,
    error?: string,
  ) =>
    sendHtmlPage(
      request,
      reply,
      <Page title={MESSAGES.reset.title} scripts={LINK_SCRIPTS}>
        <p>
          {MESSAGES.reset.for} <strong>{email}</strong>
          {MESSAGES.reset.consequences}
        </p>
        <Form action={PATH}>
          <input type="hidden" name="token" value={token} />
          <NewPasswordField email={email} label={MESSAGES.reset.new} error={error} autofocus />
          <Button>{MESSAGES.reset.save}</Button>
        </Form>
      </Page>,
      { status: error === undefined ? 200 : 422 },
    );

  app.get(
    PATH,
    {
      config: { operation: 'reset-password-page', access: 'open' },
      schema: { hide: true, querystring: Type.Object({ token: Type.Optional(TokenSchema) }) },
    },
    async (request, reply) => {
      const { token = '' } = request.query;
      const reset = await findPasswordReset(db.read, token, clock());
      if (reset === undefined || reset === 'expired')
        return showInvalidLink(request, reply, reset === undefined ? 404 : 410);
      return showForm(request, reply, token, reset);
    },
  );

  app.post(
    PATH,
    {
      config: { operation: 'reset-password', access: 'open' },
      schema: {
        hide: true,
        body: Type.Object({
          token: TokenSchema,
          password: Type.String({ maxLength: MAX_TYPED_PASSWORD_LENGTH }),
        }),
      },
    },
    async (request, reply) => {
      const { token, password } = request.body;
      const reset = await findPasswordReset(db.read, token, clock());
      if (reset === undefined || reset === 'expired')
        return showInvalidLink(request, reply, reset === undefined ? 404 : 410);
      const { userId, organizationId, email, name, organization } = reset;
      const error = await validatePassword(password, [email, name ?? '', organization ?? '']);
      if (error !== undefined) return showForm(request, reply, token, reset, error);
      const passwordHash = await hashPassword(password);
      try {
        await db.write((tx) =>
          redeemPasswordReset(tx, changeContextOf(request, clock()), token, reset, passwordHash),
        );
      } catch (failure) {
        // Another request used the link first, or the user was banned.
        if (failure instanceof DomainError && failure.kind === 'not-found')
          return showInvalidLink(request, reply, 410);
        throw failure;
      }
      return continueSignIn(
        context,
        request,
        reply,
        { userId, organizationId, method: 'reset', passwordHash, isMultiFactor: false },
        undefined,
      );
    },
  );
};

/** Requests a reset mail. The response and its timing are the same whether or not the account exists. */
const registerRequest: RouteRegistrar = (app, context) => {
  const sendsMail = context.config.smtpUrl !== undefined;

  const queueMail = async (reset: PasswordResetRequest) => {
    const { db, jobs, log } = context;
    if (await db.write((tx) => queueResetMail(tx, reset))) jobs.notify();
    else log.warn({ requestId: reset.requestId }, 'mail queue full, reset mail dropped');
  };

  const noMailHint = <p>{MESSAGES.reset.noMail}</p>;

  app.get(
    `${PATH}/request`,
    { config: { operation: 'request-reset-page', access: 'open' }, schema: { hide: true } },
    async (request, reply) =>
      sendHtmlPage(
        request,
        reply,
        <Page title={MESSAGES.reset.forgot}>
          {!sendsMail ? (
            noMailHint
          ) : (
            <>
              <p>{MESSAGES.reset.intro}</p>
              <Form>
                <Field
                  name="email"
                  label={MESSAGES.reset.email}
                  type="email"
                  autocomplete="username"
                  maxLength={MAX_EMAIL_LENGTH}
                  autofocus
                />
                <Button>{MESSAGES.reset.send}</Button>
              </Form>
            </>
          )}
          <p class="hint">
            <a href="/sign-in">{MESSAGES.reset.back}</a>
          </p>
        </Page>,
      ),
  );

  app.post(
    `${PATH}/request`,
    {
      config: { operation: 'request-reset', access: 'open' },
      schema: { hide: true, body: Type.Object({ email: Type.String({ maxLength: MAX_EMAIL_LENGTH }) }) },
    },
    async (request, reply) => {
      const { email } = request.body;
      if (sendsMail)
        await queueMail({ email, address: request.address, at: context.clock(), requestId: request.id });
      return sendHtmlPage(
        request,
        reply,
        <Page title={!sendsMail ? MESSAGES.reset.forgot : MESSAGES.reset.sentTitle}>
          {!sendsMail ? (
            noMailHint
          ) : (
            <>
              <Notice kind="info">{MESSAGES.reset.sent}</Notice>
              <p>{MESSAGES.reset.notReceived}</p>
            </>
          )}
          <p class="hint">
            <a href="/sign-in">{MESSAGES.reset.back}</a>
          </p>
        </Page>,
      );
    },
  );
};
