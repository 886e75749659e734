import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { listPasskeys } from '../domain/sign-in/passkeys.ts';
import {
  hasUsablePassword,
  requiresSecondFactor,
  secondFactorsOf,
} from '../domain/sign-in/second-factors.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { requireSignedInSession } from '../http/browser-sessions.ts';
import { Notice } from '../page-kit/forms.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { Section } from '../page-kit/section.tsx';
import { AccountPage } from './account-layout.tsx';
import { PASSKEY_SCRIPTS } from './passkey-form.tsx';
import { ReturnTo } from './second-factor-page.tsx';
import {
  ConfirmIdentityForm,
  PasskeysSection,
  SecondFactorSection,
  SECURITY_PATH,
} from './security-sections.tsx';
import { MESSAGES } from './messages.ts';

/** Milliseconds after sign-in or confirmation in which the password and factors can be changed. */
const RECENT_CONFIRMATION = 600_000;

const NOTICES: Readonly<Record<string, string>> = {
  confirmed: MESSAGES.security.confirmed,
  'authenticator-added': MESSAGES.security.appSetUpElsewhere,
  'authenticator-removed': MESSAGES.security.appRemoved,
  'passkey-added': MESSAGES.security.passkeyAddedElsewhere,
  'passkey-removed': MESSAGES.security.passkeyRemoved,
};

/** Shows password, second factors and recovery codes of the account. */
export const registerSecurity: RouteRegistrar = (app, context) => {
  app.get(
    SECURITY_PATH,
    {
      config: { operation: 'security-page', access: 'session' },
      schema: {
        hide: true,
        querystring: Type.Object({ done: Type.Optional(Type.String({ maxLength: 40 })), to: ReturnTo }),
      },
    },
    async (request, reply) => {
      const { done = '', to: returnTo } = request.query;
      return sendSecurityPage(context, request, reply, {
        returnTo,
        done: Object.hasOwn(NOTICES, done) ? NOTICES[done] : undefined,
      });
    },
  );
};

/** Whether the user signed in or confirmed their identity recently enough to change the password or factors. */
export function isRecentlyConfirmed(session: Session, now: number): boolean {
  return now < session.createdAt + RECENT_CONFIRMATION;
}

interface SecurityPageState {
  status?: number;
  done?: string | undefined;
  /** The error of the previous form. */
  error?: string;
  confirmationError?: string;
  /** The path to return to after the confirmation; `undefined` to stay. */
  returnTo?: string | undefined;
}

/** Sends the security page. Users who signed in some time ago are asked to confirm their identity. */
export async function sendSecurityPage(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { status = 200, done, error, confirmationError, returnTo }: SecurityPageState = {},
): Promise<FastifyReply> {
  const { db, clock, config } = context;
  const session = requireSignedInSession(request);
  const [factors, passkeys, password, required] = await Promise.all([
    secondFactorsOf(db.read, session.userId),
    listPasskeys(db.read, session.userId),
    hasUsablePassword(db.read, session.userId),
    requiresSecondFactor(db.read, session, config.staffSecondFactor),
  ]);
  const isConfirmed = isRecentlyConfirmed(session, clock());
  const confirmForm = (
    <ConfirmIdentityForm
      context={context}
      factors={factors}
      password={password}
      error={confirmationError}
      returnTo={returnTo}
    />
  );
  if (!isConfirmed && returnTo !== undefined) {
    return sendHtmlPage(
      request,
      reply,
      <AccountPage path={SECURITY_PATH} scripts={PASSKEY_SCRIPTS}>
        {confirmForm}
      </AccountPage>,
      { status },
    );
  }
  return sendHtmlPage(
    request,
    reply,
    <AccountPage path={SECURITY_PATH} scripts={PASSKEY_SCRIPTS}>
      {done !== undefined && <Notice kind="success">{done}</Notice>}
      {error !== undefined && <Notice kind="error">{error}</Notice>}
      {!isConfirmed && confirmForm}
      {password && (
        <Section title={MESSAGES.password.title} hint={MESSAGES.security.passwordHint}>
          <a class="button plain" href="/account/password">
            {MESSAGES.security.changePassword}
          </a>
        </Section>
      )}
      <SecondFactorSection factors={factors} password={password} required={required} recent={isConfirmed} />
      <PasskeysSection context={context} passkeys={passkeys} recent={isConfirmed} />
    </AccountPage>,
    { status },
  );
}
