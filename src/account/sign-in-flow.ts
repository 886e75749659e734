import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import type { Session, SignInCredential } from '../domain/sign-in/sessions.ts';
import { openSession } from '../http/browser-sessions.ts';
import { safeReturnPath } from '../page-kit/paths.ts';

/** The first factor of a sign-in. */
interface SignInProof extends SignInCredential {
  userId: number;
  organizationId: number | null;
  /** The method, as shown in sessions and the audit log. */
  method: 'password' | 'passkey' | 'sso' | 'invitation' | 'reset';
  /** Whether it counts as two factors: a passkey with user verification, or a trusted provider. */
  isMultiFactor: boolean;
}

/**
 * Continues after the first factor: redirects to the destination, or to the second factor if the account has one or
 * needs one.
 * @param returnTo the destination, as the form had it
 * @throws SessionEnded when the account changed in the meantime
 */
export async function continueSignIn(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { isMultiFactor, ...proof }: SignInProof,
  returnTo: string | undefined,
): Promise<FastifyReply> {
  const state = await openSession(context, request, reply, { ...proof, isFirstFactor: !isMultiFactor });
  const target = safeReturnPath(returnTo);
  return reply.redirect(
    state === 'pending' ? `/sign-in/second-factor?to=${encodeURIComponent(target)}` : target,
    303,
  );
}

/**
 * Completes a sign-in after its second factor.
 * @throws SessionEnded
 */
export async function completeSignIn(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { userId, organizationId, method }: Session,
  factor: 'totp' | 'recovery' | 'passkey',
): Promise<void> {
  await openSession(context, request, reply, {
    userId,
    organizationId,
    isFirstFactor: false,
    method: `${method}+${factor}`,
    replacesCurrent: true,
  });
}
