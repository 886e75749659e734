import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { MAX_TYPED_PASSWORD_LENGTH, requireHashCapacity } from '../auth/passwords.ts';
import { verifyPasskey } from '../domain/sign-in/verify-passkey.ts';
import { redeemRecoveryCode } from '../domain/sign-in/recovery-codes.ts';
import {
  hasSecondFactor,
  verifyPasswordOf,
  secondFactorsOf,
  verifySecondFactor,
} from '../domain/sign-in/second-factors.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { verifyTotp } from '../domain/sign-in/totp.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf, openSession, requireSignedInSession } from '../http/browser-sessions.ts';
import { CredentialSchema, takePasskeyResponse } from './passkey-endpoints.ts';
import { safeReturnPath } from '../page-kit/paths.ts';
import { ReturnTo } from './second-factor-page.tsx';
import { CONFIRM_PATH, SECURITY_PATH } from './security-sections.tsx';
import { sendSecurityPage } from './security-page.tsx';
import { MESSAGES } from './messages.ts';

const CODE = /^\s*\d{3}\s*\d{3}\s*$/;
const REJECTED = MESSAGES.security.confirmFailed;

/**
 * Confirms the user's identity by a second factor or a recovery code if the account has a second factor, and by the
 * password otherwise. This starts a new session, so that the time of the last sign-in is all that the
 * security page and the page that changes the password check.
 */
export const registerConfirmIdentity: RouteRegistrar = (app, context) => {
  const { db, keys, clock } = context;

  const confirm = async (
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string | undefined,
    check: (session: Session, now: number) => Promise<boolean>,
  ) => {
    const session = requireSignedInSession(request);
    const now = clock();
    const proof = await verifySecondFactor(context, changeContextOf(request, now), session, () =>
      check(session, now),
    );
    if (proof.outcome === 'right') {
      const { userId, organizationId, method } = session;
      await openSession(context, request, reply, {
        userId,
        organizationId,
        isFirstFactor: false,
        method,
        replacesCurrent: true,
      });
      return reply.redirect(
        returnTo === undefined ? `${SECURITY_PATH}?done=confirmed` : safeReturnPath(returnTo),
        303,
      );
    }
    if (proof.outcome === 'locked') reply.header('retry-after', proof.retryAfter);
    else reply.header('www-authenticate', 'Form realm="assay"');
    const status = proof.outcome === 'locked' ? 429 : 401;
    return sendSecurityPage(context, request, reply, { status, confirmationError: REJECTED, returnTo });
  };

  app.post(
    CONFIRM_PATH,
    {
      config: { operation: 'confirm-identity', access: 'session' },
      schema: {
        hide: true,
        body: Type.Object({ proof: Type.String({ maxLength: MAX_TYPED_PASSWORD_LENGTH }), to: ReturnTo }),
      },
    },
    async (request, reply) => {
      const { proof, to: returnTo } = request.body;
      if (!hasSecondFactor(await secondFactorsOf(db.read, requireSignedInSession(request).userId))) {
        requireHashCapacity();
        return confirm(request, reply, returnTo, ({ userId }) => verifyPasswordOf(db.read, userId, proof));
      }
      return confirm(request, reply, returnTo, (session, now) =>
        CODE.test(proof)
          ? verifyTotp(db, keys.secret, session.userId, proof, now)
          : redeemRecoveryCode(db, changeContextOf(request, now), session, proof),
      );
    },
  );

  app.post(
    `${CONFIRM_PATH}/passkey`,
    {
      config: { operation: 'confirm-identity-passkey', access: 'session' },
      schema: { hide: true, body: Type.Object({ credential: CredentialSchema, to: ReturnTo }) },
    },
    async (request, reply) => {
      const assertion = takePasskeyResponse(context, request, reply, 'confirm', request.body.credential);
      return confirm(
        request,
        reply,
        request.body.to,
        async (session, now) =>
          assertion !== undefined &&
          verifyPasskey(context, changeContextOf(request, now), session, assertion),
      );
    },
  );
};
