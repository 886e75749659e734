import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { MAX_TYPED_PASSWORD_LENGTH, requirePasswordTurn } from '../auth/passwords.ts';
import { usePasskey } from '../domain/sign-in/verify-passkey.ts';
import { attemptSecondFactor, isPasswordOf } from '../domain/sign-in/second-factors.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { useTotp } from '../domain/sign-in/totp.ts';
import type { RegisterRoutes } from '../http/register-area.ts';
import { actOf, openSession, sessionOf } from '../http/browser-sessions.ts';
import { CredentialField, takeAnswer } from './passkey-endpoints.ts';
import { CONFIRM_PATH, SECURITY_PATH } from './security-sections.tsx';
import { showSecurity } from './security-page.tsx';

const CODE = /^\s*\d{3}\s*\d{3}\s*$/;
const REFUSED = 'This is not right, or there were too many attempts.';

/**
 * Whoever proves again who they are gets a new session in place of the one they had, as with any sign-in: how long ago
 * that was is all that the page of factors looks at.
 */
export const registerConfirmIdentity: RegisterRoutes = (app, context) => {
  const { db, keys, clock } = context;

  const confirm = async (
    request: FastifyRequest,
    reply: FastifyReply,
    check: (session: Session, now: number) => Promise<boolean>,
  ) => {
    const session = sessionOf(request);
    const now = clock();
    const proof = await attemptSecondFactor(context, actOf(request, now), session, () => check(session, now));
    if (proof.outcome === 'right') {
      const { userId, organizationId, method } = session;
      await openSession(context, request, reply, {
        userId,
        organizationId,
        state: 'complete',
        method,
        continues: true,
      });
      return reply.redirect(`${SECURITY_PATH}?done=confirmed`, 303);
    }
    if (proof.outcome === 'locked') reply.header('retry-after', proof.retryAfter);
    else reply.header('www-authenticate', 'Form realm="assay"');
    const status = proof.outcome === 'locked' ? 429 : 401;
    return showSecurity(context, request, reply, { status, unconfirmed: REFUSED });
  };

  app.post(
    CONFIRM_PATH,
    {
      config: { operation: 'confirm-identity', access: 'session' },
      schema: {
        hide: true,
        body: Type.Object({ proof: Type.String({ maxLength: MAX_TYPED_PASSWORD_LENGTH }) }),
      },
    },
    async (request, reply) => {
      const { proof } = request.body;
      requirePasswordTurn();
      // A password is longer than a code.
      return confirm(request, reply, ({ userId }, now) =>
        CODE.test(proof)
          ? useTotp(db, keys.secret, userId, proof, now)
          : isPasswordOf(db.read, userId, proof),
      );
    },
  );

  app.post(
    `${CONFIRM_PATH}/passkey`,
    {
      config: { operation: 'confirm-identity-passkey', access: 'session' },
      schema: { hide: true, body: Type.Object({ credential: CredentialField }) },
    },
    async (request, reply) => {
      const answer = takeAnswer(context, request, reply, 'confirm', request.body.credential);
      return confirm(
        request,
        reply,
        async (session, now) =>
          answer !== undefined && usePasskey(context, actOf(request, now), session, answer),
      );
    },
  );
};
