import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { enrolSecondFactor } from '../domain/sign-in/enrol-second-factor.ts';
import { addPasskey } from '../domain/sign-in/passkeys.ts';
import { generateRecoveryCodes } from '../domain/sign-in/recovery-codes.ts';
import { hasSecondFactor, secondFactorsOf } from '../domain/sign-in/second-factors.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { addTotp, totpStep } from '../domain/sign-in/totp.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf } from '../http/browser-sessions.ts';
import { cspFormActionFor } from '../oauth/authorization-request.ts';
import { safeReturnPath } from '../page-kit/paths.ts';
import { Notice } from '../page-kit/forms.tsx';
import { Page } from '../page-kit/layout.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import {
  AuthenticatorForm,
  CodeSchema,
  createAuthenticatorSetup,
  openAuthenticatorSetup,
  SetupSchema,
} from './authenticator-setup.tsx';
import { PASSKEY_SCRIPTS, PasskeyForm } from './passkey-form.tsx';
import { CredentialSchema, parseNewPasskey } from './passkey-endpoints.ts';
import { RecoveryCodes } from './recovery-codes-list.tsx';
import { redirectWithoutPendingSession, pendingSession, ReturnTo } from './second-factor-page.tsx';
import { completeSignIn } from './sign-in-flow.ts';
import { ReturnToQuery } from './sign-in-page.tsx';
import { MESSAGES } from './messages.ts';

const PATH = '/sign-in/second-factor/set-up';
const CodeFormSchema = Type.Object({ set_up: SetupSchema, code: CodeSchema, to: ReturnTo });
const PasskeyFormSchema = Type.Object({ credential: CredentialSchema, to: ReturnTo });

const showForms = async (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session,
  returnTo: string | undefined,
  rejected?: { setUp?: string; message?: string },
) => {
  // Keep the secret after a wrong code, because the app already has it.
  const stored =
    rejected?.setUp === undefined ? undefined : openAuthenticatorSetup(context, session, rejected.setUp);
  const setUp =
    stored === undefined
      ? createAuthenticatorSetup(context, session)
      : { field: rejected?.setUp ?? '', secret: stored };
  const returnToField = <input type="hidden" name="to" value={safeReturnPath(returnTo)} />;
  return sendHtmlPage(
    request,
    reply,
    <Page title={MESSAGES.setup.title} scripts={PASSKEY_SCRIPTS}>
      {rejected?.message !== undefined && <Notice kind="error">{rejected.message}</Notice>}
      <p class="hint">
        {MESSAGES.setup.required} <strong>{session.email}</strong>
        {MESSAGES.setup.choose}
      </p>
      <AuthenticatorForm
        action={PATH}
        setup={setUp}
        email={session.email}
        isRejected={rejected?.setUp !== undefined}
      >
        {returnToField}
      </AuthenticatorForm>
      <PasskeyForm
        context={context}
        purpose="add"
        action={`${PATH}/passkey`}
        label={MESSAGES.setup.usePasskey}
        kind="plain"
      >
        {returnToField}
      </PasskeyForm>
    </Page>,
    {
      status: rejected === undefined ? 200 : 422,
      formTargets: await cspFormActionFor(context, safeReturnPath(returnTo)),
    },
  );
};

/** Completes the sign-in and shows the recovery codes. */
const finish = async (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session,
  factor: 'totp' | 'passkey',
  codes: readonly string[],
  returnTo: string | undefined,
) => {
  await completeSignIn(context, request, reply, session, factor);
  return sendHtmlPage(
    request,
    reply,
    <Page title={MESSAGES.setup.recoveryCodes}>
      <RecoveryCodes
        done={MESSAGES.setup.done}
        codes={codes}
        next={{ href: safeReturnPath(returnTo), label: 'Continue' }}
      />
    </Page>,
  );
};

/** Lets users set up the second factor that their account must have, which completes their sign-in. */
export const registerSecondFactorSetup: RouteRegistrar = (app, context) => {
  const { db, keys, clock } = context;

  app.get(
    PATH,
    {
      config: { operation: 'second-factor-set-up-page', access: 'open' },
      schema: { hide: true, querystring: ReturnToQuery },
    },
    async (request, reply) => {
      const { to: returnTo } = request.query;
      const session = pendingSession(request, clock());
      if (session === null) return redirectWithoutPendingSession(request, reply, returnTo);
      if (hasSecondFactor(await secondFactorsOf(db.read, session.userId)))
        return reply.redirect(
          `/sign-in/second-factor?to=${encodeURIComponent(safeReturnPath(returnTo))}`,
          303,
        );
      return showForms(context, request, reply, session, returnTo);
    },
  );

  app.post(
    PATH,
    {
      config: { operation: 'second-factor-set-up', access: 'open' },
      schema: { hide: true, body: CodeFormSchema },
    },
    async (request, reply) => {
      const { set_up: setUp, code, to: returnTo } = request.body;
      const now = clock();
      const session = pendingSession(request, now);
      if (session === null) return redirectWithoutPendingSession(request, reply, returnTo);
      const secret = openAuthenticatorSetup(context, session, setUp);
      const step = secret === undefined ? undefined : totpStep(secret, code, now);
      if (secret === undefined || step === undefined)
        return showForms(context, request, reply, session, returnTo, { setUp });
      const codes = generateRecoveryCodes();
      const by = changeContextOf(request, now);
      await db.write((tx) =>
        enrolSecondFactor(tx, by, session, codes, () =>
          addTotp(tx, by, session, keys.secret, { secret, step }),
        ),
      );
      return finish(context, request, reply, session, 'totp', codes, returnTo);
    },
  );

  app.post(
    `${PATH}/passkey`,
    {
      config: { operation: 'second-factor-set-up-passkey', access: 'open' },
      schema: { hide: true, body: PasskeyFormSchema },
    },
    async (request, reply) => {
      const { credential, to: returnTo } = request.body;
      const now = clock();
      const session = pendingSession(request, now);
      if (session === null) return redirectWithoutPendingSession(request, reply, returnTo);
      const passkey = await parseNewPasskey(context, request, reply, credential, 'Passkey');
      if (passkey === undefined)
        return showForms(context, request, reply, session, returnTo, {
          message: MESSAGES.setup.passkeyFailed,
        });
      const codes = generateRecoveryCodes();
      const by = changeContextOf(request, now);
      await db.write((tx) =>
        enrolSecondFactor(tx, by, session, codes, () => addPasskey(tx, by, session, passkey)),
      );
      return finish(context, request, reply, session, 'passkey', codes, returnTo);
    },
  );
};
