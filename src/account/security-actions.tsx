import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { MAX_CREDENTIAL_ID_LENGTH } from '../auth/webauthn.ts';
import { Failure } from '../domain/shared/errors.ts';
import { addPasskey, removePasskey } from '../domain/sign-in/passkeys.ts';
import {
  giveRecoveryCodes,
  newRecoveryCodes,
  replaceRecoveryCodes,
} from '../domain/sign-in/recovery-codes.ts';
import { claimRecoveryCodes, settleSessions } from '../domain/sign-in/second-factors.ts';
import { addTotp, removeTotp, totpStep } from '../domain/sign-in/totp.ts';
import type { RegisterRoutes } from '../http/register-area.ts';
import { actOf, sessionOf, setSessionCookie } from '../http/browser-sessions.ts';
import { sendPage } from '../pages/pages-plugin.tsx';
import { AccountPage } from './account-layout.tsx';
import { AuthenticatorForm, CodeField, newSetUp, secretOf, SetUpField } from './authenticator-setup.tsx';
import { CredentialField, takeNewPasskey } from './passkey-endpoints.ts';
import { RecoveryCodes } from './recovery-codes-list.tsx';
import { MAX_NAME_LENGTH, SECURITY_PATH } from './security-sections.tsx';
import { isRecent, showSecurity } from './security-page.tsx';

const AUTHENTICATOR = `${SECURITY_PATH}/authenticator`;
const STATUS = {
  missing: 404,
  forbidden: 403,
  invalid: 422,
  conflict: 409,
  changed: 412,
  oversized: 413,
} as const;
const TOO_LATE = 'You signed in more than ten minutes ago. Confirm that it is you, then do this again.';

/** The changes to one's own factors. Each ends the other sessions and gives this one another secret. */
export const registerSecurityChanges: RegisterRoutes = (app, context) => {
  const { db, keys, clock } = context;

  /** Does a change for someone who signed in a short while ago; what the rules refuse is told on the page. */
  const change = async (
    request: FastifyRequest,
    reply: FastifyReply,
    work: (now: number) => Promise<FastifyReply>,
  ) => {
    const now = clock();
    if (!isRecent(sessionOf(request), now))
      return showSecurity(context, request, reply, { status: 403, refused: TOO_LATE });
    try {
      return await work(now);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return showSecurity(context, request, reply, { status: STATUS[error.kind], refused: error.message });
    }
  };

  const showAuthenticator = (request: FastifyRequest, reply: FastifyReply, refused?: string) => {
    const session = sessionOf(request);
    const kept = refused === undefined ? undefined : secretOf(context, session, refused);
    const setUp = kept === undefined ? newSetUp(context, session) : { field: refused ?? '', secret: kept };
    return sendPage(
      request,
      reply,
      <AccountPage path={SECURITY_PATH} title="Set up an authenticator app">
        <section>
          <AuthenticatorForm
            action={AUTHENTICATOR}
            setUp={setUp}
            email={session.email}
            refused={refused !== undefined}
          />
        </section>
      </AccountPage>,
      { status: refused === undefined ? 200 : 422 },
    );
  };

  const showCodes = (request: FastifyRequest, reply: FastifyReply, done: string, codes: readonly string[]) =>
    sendPage(
      request,
      reply,
      <AccountPage path={SECURITY_PATH} title="Recovery codes">
        <RecoveryCodes done={done} codes={codes} next={{ href: SECURITY_PATH, label: 'Done' }} />
      </AccountPage>,
    );

  app.get(
    AUTHENTICATOR,
    { config: { operation: 'authenticator-page', access: 'session' }, schema: { hide: true } },
    async (request, reply) =>
      isRecent(sessionOf(request), clock())
        ? showAuthenticator(request, reply)
        : reply.redirect(SECURITY_PATH, 303),
  );

  app.post(
    AUTHENTICATOR,
    {
      config: { operation: 'add-authenticator', access: 'session' },
      schema: { hide: true, body: Type.Object({ set_up: SetUpField, code: CodeField }) },
    },
    (request, reply) =>
      change(request, reply, async (now) => {
        const { set_up: setUp, code } = request.body;
        const session = sessionOf(request);
        const act = actOf(request, now);
        const secret = secretOf(context, session, setUp);
        const step = secret === undefined ? undefined : totpStep(secret, code, now);
        if (secret === undefined || step === undefined) return showAuthenticator(request, reply, setUp);
        const codes = newRecoveryCodes();
        const { given, cookie } = await db.write(async (tx) => {
          await addTotp(tx, act, session, keys.secret, { secret, step });
          return {
            given: await giveRecoveryCodes(tx, act, session, codes),
            cookie: await settleSessions(tx, act, session),
          };
        });
        setSessionCookie(context, reply, cookie);
        if (given) return showCodes(request, reply, 'The authenticator app is set up.', codes);
        return reply.redirect(`${SECURITY_PATH}?done=authenticator-added`, 303);
      }),
  );

  app.post(
    `${AUTHENTICATOR}/remove`,
    { config: { operation: 'remove-authenticator', access: 'session' }, schema: { hide: true } },
    (request, reply) =>
      change(request, reply, async (now) => {
        const session = sessionOf(request);
        const cookie = await db.write(async (tx) => {
          await removeTotp(tx, actOf(request, now), session);
          return settleSessions(tx, actOf(request, now), session);
        });
        setSessionCookie(context, reply, cookie);
        return reply.redirect(`${SECURITY_PATH}?done=authenticator-removed`, 303);
      }),
  );

  app.post(
    `${SECURITY_PATH}/passkeys`,
    {
      config: { operation: 'add-passkey', access: 'session' },
      schema: {
        hide: true,
        body: Type.Object({ credential: CredentialField, name: Type.String({ maxLength: MAX_NAME_LENGTH }) }),
      },
    },
    (request, reply) =>
      change(request, reply, async (now) => {
        const { credential, name } = request.body;
        const session = sessionOf(request);
        const act = actOf(request, now);
        const passkey = await takeNewPasskey(context, request, reply, credential, name);
        if (passkey === undefined)
          throw new Failure('conflict', 'This passkey could not be added, or you took too long. Try again.');
        const codes = newRecoveryCodes();
        const { given, cookie } = await db.write(async (tx) => {
          await addPasskey(tx, act, session, passkey);
          return {
            given: await giveRecoveryCodes(tx, act, session, codes),
            cookie: await settleSessions(tx, act, session),
          };
        });
        setSessionCookie(context, reply, cookie);
        if (given) return showCodes(request, reply, 'The passkey is added.', codes);
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
      change(request, reply, async (now) => {
        const session = sessionOf(request);
        const cookie = await db.write(async (tx) => {
          await removePasskey(tx, actOf(request, now), session, request.body.passkey);
          return settleSessions(tx, actOf(request, now), session);
        });
        setSessionCookie(context, reply, cookie);
        return reply.redirect(`${SECURITY_PATH}?done=passkey-removed`, 303);
      }),
  );

  app.post(
    `${SECURITY_PATH}/recovery-codes`,
    { config: { operation: 'make-recovery-codes', access: 'session' }, schema: { hide: true } },
    (request, reply) =>
      change(request, reply, async (now) => {
        const session = sessionOf(request);
        const codes = newRecoveryCodes();
        const cookie = await db.write(async (tx) => {
          await claimRecoveryCodes(tx, session.userId);
          await replaceRecoveryCodes(tx, actOf(request, now), session, codes);
          return settleSessions(tx, actOf(request, now), session);
        });
        setSessionCookie(context, reply, cookie);
        return showCodes(
          request,
          reply,
          'You have new recovery codes, and the old ones no longer work.',
          codes,
        );
      }),
  );
};
