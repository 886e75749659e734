import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../runtime/context.ts';
import { listPasskeys } from '../domain/sign-in/passkeys.ts';
import { hasPassword, hasSecondFactor, secondFactorsOf } from '../domain/sign-in/second-factors.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import type { RegisterRoutes } from '../http/register-area.ts';
import { sessionOf } from '../http/browser-sessions.ts';
import { Notice } from '../pages/forms.tsx';
import { sendPage } from '../pages/pages-plugin.tsx';
import { AccountPage } from './account-layout.tsx';
import { PASSKEY_SCRIPTS } from './passkey-form.tsx';
import {
  Authenticator,
  ConfirmIdentity,
  Passkeys,
  RecoveryCodesLeft,
  SECURITY_PATH,
} from './security-sections.tsx';

/** How long after a sign-in, or after proving again who one is, factors can be changed. */
const RECENT = 600_000;

/** What was done, for the page that a form leads back to. */
const DONE: Readonly<Record<string, string>> = {
  confirmed: 'Thank you. You can change these settings for ten minutes.',
  'authenticator-added': 'The authenticator app is set up. Your other sessions ended.',
  'authenticator-removed': 'The authenticator app is removed. Your other sessions ended.',
  'passkey-added': 'The passkey is added. Your other sessions ended.',
  'passkey-removed': 'The passkey is removed. Your other sessions ended.',
};

/** Password, second factors and recovery codes of one's own account. */
export const registerSecurity: RegisterRoutes = (app, context) => {
  app.get(
    SECURITY_PATH,
    {
      config: { operation: 'security-page', access: 'session' },
      schema: {
        hide: true,
        querystring: Type.Object({ done: Type.Optional(Type.String({ maxLength: 40 })) }),
      },
    },
    async (request, reply) => {
      const { done = '' } = request.query;
      return showSecurity(context, request, reply, {
        done: Object.hasOwn(DONE, done) ? DONE[done] : undefined,
      });
    },
  );
};

/** @returns whether someone proved who they are so short a while ago that they may change their factors */
export function isRecent(session: Session, now: number): boolean {
  return now < session.createdAt + RECENT;
}

interface Shown {
  status?: number;
  done?: string | undefined;
  /** What went wrong with the form that led here. */
  refused?: string;
  /** What was wrong with the answer to who they are. */
  unconfirmed?: string;
}

/** Sends the page of one's factors; those who signed in a while ago see there how to prove again who they are. */
export async function showSecurity(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { status = 200, done, refused, unconfirmed }: Shown = {},
): Promise<FastifyReply> {
  const { db, clock } = context;
  const session = sessionOf(request);
  const [factors, passkeys, password] = await Promise.all([
    secondFactorsOf(db.read, session.userId),
    listPasskeys(db.read, session.userId),
    hasPassword(db.read, session.userId),
  ]);
  const recent = isRecent(session, clock());
  return sendPage(
    request,
    reply,
    <AccountPage path={SECURITY_PATH} title="Password and second factor" scripts={PASSKEY_SCRIPTS}>
      {done !== undefined && <Notice kind="success">{done}</Notice>}
      {refused !== undefined && <Notice kind="error">{refused}</Notice>}
      {!recent && (
        <ConfirmIdentity context={context} factors={factors} password={password} refused={unconfirmed} />
      )}
      {password && (
        <section>
          <h2>Password</h2>
          <a class="button plain" href="/account/password">
            Change the password
          </a>
        </section>
      )}
      <Authenticator factors={factors} recent={recent} />
      <Passkeys context={context} passkeys={passkeys} recent={recent} />
      {hasSecondFactor(factors) && <RecoveryCodesLeft factors={factors} recent={recent} />}
    </AccountPage>,
    { status },
  );
}
