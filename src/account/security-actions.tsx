import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { MAX_CREDENTIAL_ID_LENGTH } from '../auth/webauthn.ts';
import type { ChangeContext } from '../auth/callers.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { addPasskey, removePasskey } from '../domain/sign-in/passkeys.ts';
import {
  issueRecoveryCodesIfNoneLeft,
  generateRecoveryCodes,
  replaceRecoveryCodes,
} from '../domain/sign-in/recovery-codes.ts';
import { lockForRecoveryCodes } from '../domain/sign-in/second-factors.ts';
import { commitAndRotate, type Session } from '../domain/sign-in/sessions.ts';
import { addTotp, removeTotp, totpStep } from '../domain/sign-in/totp.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf, requireSignedInSession, setSessionCookie } from '../http/browser-sessions.ts';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { Section } from '../page-kit/section.tsx';
import { AccountPage } from './account-layout.tsx';
import {
  AuthenticatorForm,
  CodeSchema,
  createAuthenticatorSetup,
  openAuthenticatorSetup,
  SetupSchema,
} from './authenticator-setup.tsx';
import { CredentialSchema, parseNewPasskey } from './passkey-endpoints.ts';
import { RecoveryCodes } from './recovery-codes-list.tsx';
import { MAX_PASSKEY_NAME_LENGTH, SECURITY_PATH } from './security-sections.tsx';
import { isRecentlyConfirmed, sendSecurityPage } from './security-page.tsx';
import { MESSAGES } from './messages.ts';

const AUTHENTICATOR = `${SECURITY_PATH}/authenticator`;
const STATUS = {
  'not-found': 404,
  forbidden: 403,
  invalid: 422,
  conflict: 409,
  'version-mismatch': 412,
  'limit-exceeded': 422,
  'rate-limited': 429,
  'too-many': 413,
} as const;
const TOO_LATE = MESSAGES.security.tooLate;

/** Makes a change for a recently confirmed session, and shows errors on the page. */
const change = async (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (session: Session, by: ChangeContext) => Promise<FastifyReply>,
) => {
  const session = requireSignedInSession(request);
  const now = context.clock();
  if (!isRecentlyConfirmed(session, now))
    return sendSecurityPage(context, request, reply, { status: 403, error: TOO_LATE });
  try {
    return await work(session, changeContextOf(request, now));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return sendSecurityPage(context, request, reply, { status: STATUS[error.kind], error: error.message });
  }
};

const showAuthenticator = (
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  rejected?: string,
) => {
  const session = requireSignedInSession(request);
  const secret = rejected === undefined ? undefined : openAuthenticatorSetup(context, session, rejected);
  const setUp =
    secret === undefined ? createAuthenticatorSetup(context, session) : { field: rejected ?? '', secret };
  return sendHtmlPage(
    request,
    reply,
    <AccountPage path={SECURITY_PATH} title={MESSAGES.security.setUpApp}>
      <Section title={MESSAGES.security.app} hint={MESSAGES.security.appOff}>
        <AuthenticatorForm
          action={AUTHENTICATOR}
          setup={setUp}
          email={session.email}
          isRejected={rejected !== undefined}
        />
      </Section>
    </AccountPage>,
    { status: rejected === undefined ? 200 : 422 },
  );
};

const showCodes = (request: FastifyRequest, reply: FastifyReply, done: string, codes: readonly string[]) =>
  sendHtmlPage(
    request,
    reply,
    <AccountPage path={SECURITY_PATH} title={MESSAGES.security.recoveryCodes}>
      <RecoveryCodes done={done} codes={codes} next={{ href: SECURITY_PATH, label: 'Done' }} />
    </AccountPage>,
  );

/** Changes the user's second factors. Each change ends the other sessions and rotates the secret of this one. */
export const registerSecurityActions: RouteRegistrar = (app, context) => {
  registerAuthenticator(app, context);
  registerPasskeys(app, context);
  registerRecoveryCodes(app, context);
};

const registerAuthenticator: RouteRegistrar = (app, context) => {
  const { db, keys, clock, config } = context;

  app.get(
    AUTHENTICATOR,
    { config: { operation: 'authenticator-page', access: 'session' }, schema: { hide: true } },
    async (request, reply) =>
      isRecentlyConfirmed(requireSignedInSession(request), clock())
        ? showAuthenticator(context, request, reply)
        : reply.redirect(SECURITY_PATH, 303),
  );

  app.post(
    AUTHENTICATOR,
    {
      config: { operation: 'add-authenticator', access: 'session' },
      schema: { hide: true, body: Type.Object({ set_up: SetupSchema, code: CodeSchema }) },
    },
    (request, reply) =>
      change(context, request, reply, async (session, by) => {
        const { set_up: setUp, code } = request.body;
        const secret = openAuthenticatorSetup(context, session, setUp);
        const step = secret === undefined ? undefined : totpStep(secret, code, by.now);
        if (secret === undefined || step === undefined)
          return showAuthenticator(context, request, reply, setUp);
        const codes = generateRecoveryCodes();
        const { result: issued, secret: cookie } = await commitAndRotate(db, by, session, async (tx) => {
          await addTotp(tx, by, session, keys.secret, { secret, step });
          return issueRecoveryCodesIfNoneLeft(tx, by, session, codes);
        });
        setSessionCookie(context, reply, cookie);
        if (issued) return showCodes(request, reply, MESSAGES.security.appSetUp, codes);
        return reply.redirect(`${SECURITY_PATH}?done=authenticator-added`, 303);
      }),
  );

  app.post(
    `${AUTHENTICATOR}/remove`,
    { config: { operation: 'remove-authenticator', access: 'session' }, schema: { hide: true } },
    (request, reply) =>
      change(context, request, reply, async (session, by) => {
        const { secret: cookie } = await commitAndRotate(db, by, session, (tx) =>
          removeTotp(tx, by, session, config.staffSecondFactor),
        );
        setSessionCookie(context, reply, cookie);
        return reply.redirect(`${SECURITY_PATH}?done=authenticator-removed`, 303);
      }),
  );
};

const registerPasskeys: RouteRegistrar = (app, context) => {
  const { db, config } = context;

  app.post(
    `${SECURITY_PATH}/passkeys`,
    {
      config: { operation: 'add-passkey', access: 'session' },
      schema: {
        hide: true,
        body: Type.Object({
          credential: CredentialSchema,
          name: Type.String({ maxLength: MAX_PASSKEY_NAME_LENGTH }),
        }),
      },
    },
    (request, reply) =>
      change(context, request, reply, async (session, by) => {
        const { credential, name } = request.body;
        const passkey = await parseNewPasskey(context, request, reply, credential, name);
        if (passkey === undefined) throw new DomainError('passkey-not-added');
        const codes = generateRecoveryCodes();
        const { result: issued, secret: cookie } = await commitAndRotate(db, by, session, async (tx) => {
          await addPasskey(tx, by, session, passkey);
          return issueRecoveryCodesIfNoneLeft(tx, by, session, codes);
        });
        setSessionCookie(context, reply, cookie);
        if (issued) return showCodes(request, reply, MESSAGES.security.passkeyAdded, codes);
        return reply.redirect(`${SECURITY_PATH}?done=passkey-added`, 303);
      }),
  );

  app.post(
    `${SECURITY_PATH}/passkeys/remove`,
    {
      config: { operation: 'remove-passkey', access: 'session' },
      schema: {
        hide: true,
        body: Type.Object({ passkey: Type.String({ maxLength: MAX_CREDENTIAL_ID_LENGTH }) }),
      },
    },
    (request, reply) =>
      change(context, request, reply, async (session, by) => {
        const { secret: cookie } = await commitAndRotate(db, by, session, (tx) =>
          removePasskey(tx, by, session, request.body.passkey, config.staffSecondFactor),
        );
        setSessionCookie(context, reply, cookie);
        return reply.redirect(`${SECURITY_PATH}?done=passkey-removed`, 303);
      }),
  );
};

const registerRecoveryCodes: RouteRegistrar = (app, context) => {
  app.post(
    `${SECURITY_PATH}/recovery-codes`,
    { config: { operation: 'make-recovery-codes', access: 'session' }, schema: { hide: true } },
    (request, reply) =>
      change(context, request, reply, async (session, by) => {
        const codes = generateRecoveryCodes();
        const { secret: cookie } = await commitAndRotate(context.db, by, session, async (tx) => {
          await lockForRecoveryCodes(tx, session);
          await replaceRecoveryCodes(tx, by, session, codes);
        });
        setSessionCookie(context, reply, cookie);
        return showCodes(request, reply, MESSAGES.security.newCodes, codes);
      }),
  );
};
