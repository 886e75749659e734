import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { verifyPasskey } from '../domain/sign-in/verify-passkey.ts';
import { MAX_RECOVERY_CODE_LENGTH, redeemRecoveryCode } from '../domain/sign-in/recovery-codes.ts';
import { verifySecondFactor, hasSecondFactor, secondFactorsOf } from '../domain/sign-in/second-factors.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { MAX_CODE_LENGTH, verifyTotp } from '../domain/sign-in/totp.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf } from '../http/browser-sessions.ts';
import { cspFormActionFor } from '../oauth/authorization-request.ts';
import { CONSOLE_HOME, safeReturnPath, signInPath } from '../page-kit/paths.ts';
import { Button, Field, Form, Notice } from '../page-kit/forms.tsx';
import { Page } from '../page-kit/layout.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { CodeSchema } from './authenticator-setup.tsx';
import { PASSKEY_SCRIPTS, PasskeyForm } from './passkey-form.tsx';
import { CredentialSchema, takePasskeyResponse } from './passkey-endpoints.ts';
import { completeSignIn } from './sign-in-flow.ts';
import { MAX_RETURN_LENGTH, ReturnToQuery } from './sign-in-page.tsx';
import { MESSAGES } from './messages.ts';

const PATH = '/sign-in/second-factor';
/** Milliseconds between the first and the second factor. */
const PENDING_LIFETIME = 900_000;

export const ReturnTo = Type.Optional(Type.String({ maxLength: MAX_RETURN_LENGTH }));
const CodeFormSchema = Type.Object({ code: CodeSchema, to: ReturnTo });
const RecoveryFormSchema = Type.Object({
  recovery_code: Type.String({ maxLength: MAX_RECOVERY_CODE_LENGTH }),
  to: ReturnTo,
});
const PasskeyFormSchema = Type.Object({ credential: CredentialSchema, to: ReturnTo });

type Factor = 'totp' | 'recovery' | 'passkey';

/** One message for wrong codes, used codes and too many attempts. */
const REJECTED: Readonly<Record<Factor, string>> = {
  totp: MESSAGES.secondFactor.wrongCode,
  recovery: MESSAGES.secondFactor.wrongRecoveryCode,
  passkey: MESSAGES.secondFactor.wrongPasskey,
};

const showForms = async (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session,
  returnTo: string | undefined,
  rejected?: { factor: Factor; status: 401 | 429 },
) => {
  const factors = await secondFactorsOf(context.db.read, session.userId);
  const returnToField = <input type="hidden" name="to" value={safeReturnPath(returnTo)} />;
  return sendHtmlPage(
    request,
    reply,
    <Page title={MESSAGES.secondFactor.title} scripts={PASSKEY_SCRIPTS}>
      {rejected !== undefined && <Notice kind="error">{REJECTED[rejected.factor]}</Notice>}
      <p class="hint">
        {MESSAGES.secondFactor.signingInAs} <strong>{session.email}</strong>.
      </p>
      {factors.totp && (
        <Form action={PATH}>
          {returnToField}
          <Field
            name="code"
            label="Code"
            hint={MESSAGES.secondFactor.codeHint}
            autocomplete="one-time-code"
            inputmode="numeric"
            maxLength={MAX_CODE_LENGTH}
            autofocus
          />
          <Button>{MESSAGES.secondFactor.signIn}</Button>
        </Form>
      )}
      {factors.passkeys > 0 && (
        <>
          <PasskeyForm
            context={context}
            purpose="second-factor"
            action={`${PATH}/passkey`}
            label={MESSAGES.secondFactor.usePasskey}
            kind={factors.totp ? 'plain' : 'primary'}
          >
            {returnToField}
          </PasskeyForm>
          <noscript>
            <p>{MESSAGES.secondFactor.needsJavaScript}</p>
          </noscript>
        </>
      )}
      <details open={rejected?.factor === 'recovery' || !factors.totp}>
        <summary>{MESSAGES.secondFactor.useRecoveryCode}</summary>
        <Form action={`${PATH}/recovery`}>
          {returnToField}
          <Field
            name="recovery_code"
            label={MESSAGES.secondFactor.recoveryCode}
            hint={MESSAGES.secondFactor.recoveryCodeHint}
            autocomplete="off"
            maxLength={MAX_RECOVERY_CODE_LENGTH}
          />
          <Button kind="plain">{MESSAGES.secondFactor.signInWithCode}</Button>
        </Form>
      </details>
      <Form action="/sign-out">
        <p class="hint">{MESSAGES.secondFactor.lost}</p>
        <Button kind="plain">Cancel</Button>
      </Form>
    </Page>,
    {
      status: rejected?.status ?? 200,
      formTargets: await cspFormActionFor(context, safeReturnPath(returnTo)),
    },
  );
};

/** Verifies the factor, and completes the sign-in if it is right. */
const prove = async (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  factor: Factor,
  returnTo: string | undefined,
  check: (session: Session, now: number) => Promise<boolean>,
) => {
  const now = context.clock();
  const session = pendingSession(request, now);
  if (session === null) return redirectWithoutPendingSession(request, reply, returnTo);
  const proof = await verifySecondFactor(context, changeContextOf(request, now), session, () =>
    check(session, now),
  );
  if (proof.outcome === 'right') {
    await completeSignIn(context, request, reply, session, factor);
    return reply.redirect(safeReturnPath(returnTo), 303);
  }
  if (proof.outcome === 'locked') reply.header('retry-after', proof.retryAfter);
  else reply.header('www-authenticate', 'Form realm="assay"');
  const status = proof.outcome === 'locked' ? 429 : 401;
  return showForms(context, request, reply, session, returnTo, { factor, status });
};

/** Completes a sign-in with an authenticator code, a recovery code or a passkey. */
export const registerSecondFactor: RouteRegistrar = (app, context) => {
  const { db, keys, clock } = context;

  app.get(
    PATH,
    {
      config: { operation: 'second-factor-page', access: 'open' },
      schema: { hide: true, querystring: ReturnToQuery },
    },
    async (request, reply) => {
      const { to: returnTo } = request.query;
      const session = pendingSession(request, clock());
      if (session === null) return redirectWithoutPendingSession(request, reply, returnTo);
      if (hasSecondFactor(await secondFactorsOf(db.read, session.userId)))
        return showForms(context, request, reply, session, returnTo);
      return reply.redirect(`${PATH}/set-up?to=${encodeURIComponent(safeReturnPath(returnTo))}`, 303);
    },
  );

  app.post(
    PATH,
    { config: { operation: 'second-factor', access: 'open' }, schema: { hide: true, body: CodeFormSchema } },
    async (request, reply) => {
      const { code, to: returnTo } = request.body;
      return prove(context, request, reply, 'totp', returnTo, ({ userId }, now) =>
        verifyTotp(db, keys.secret, userId, code, now),
      );
    },
  );

  app.post(
    `${PATH}/recovery`,
    {
      config: { operation: 'second-factor-recovery', access: 'open' },
      schema: { hide: true, body: RecoveryFormSchema },
    },
    async (request, reply) => {
      const { recovery_code: code, to: returnTo } = request.body;
      return prove(context, request, reply, 'recovery', returnTo, (session, now) =>
        redeemRecoveryCode(db, changeContextOf(request, now), session, code),
      );
    },
  );

  app.post(
    `${PATH}/passkey`,
    {
      config: { operation: 'second-factor-passkey', access: 'open' },
      schema: { hide: true, body: PasskeyFormSchema },
    },
    async (request, reply) => {
      const { credential, to: returnTo } = request.body;
      const assertion = takePasskeyResponse(context, request, reply, 'second-factor', credential);
      return prove(
        context,
        request,
        reply,
        'passkey',
        returnTo,
        async (session, now) =>
          assertion !== undefined &&
          verifyPasskey(context, changeContextOf(request, now), session, assertion),
      );
    },
  );
};

/** @returns the session whose first factor was proved recently; `null` otherwise */
export function pendingSession({ session }: FastifyRequest, now: number): Session | null {
  return session?.state === 'pending' && now < session.createdAt + PENDING_LIFETIME ? session : null;
}

/** Redirects users who need no second factor: they are signed in, or have to start again. */
export function redirectWithoutPendingSession(
  request: FastifyRequest,
  reply: FastifyReply,
  returnTo: string | undefined,
): FastifyReply {
  const isSignedIn = request.session?.state === 'complete';
  return reply.redirect(isSignedIn ? safeReturnPath(returnTo) : signInPath(returnTo ?? CONSOLE_HOME), 303);
}
