import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../runtime/context.ts';
import { needsSecondFactor } from '../domain/sign-in/second-factors.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { openSession } from '../http/browser-sessions.ts';
import { safeReturnPath } from '../pages/paths.ts';

/** How someone has just proved who they are. */
export interface SignInProof {
  userId: number;
  organizationId: number | null;
  /** As sessions and the audit log show it. */
  method: 'password' | 'passkey' | 'sso' | 'invitation' | 'reset';
  /** What the password was compared with, where there was one. */
  passwordHash?: string;
  /** Whether it is as good as two factors: a passkey with user verification, or a provider that is trusted for it. */
  isMultiFactor: boolean;
}

/**
 * Goes on after the first factor: to where the sign-in was to lead, or to the second factor where the account has one
 * or its organization wants one.
 * @param to where the sign-in was to lead, as the form had it
 * @throws SessionEnded when the account changed in the meantime
 */
export async function continueSignIn(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { isMultiFactor, ...proof }: SignInProof,
  to: string | undefined,
): Promise<FastifyReply> {
  const pending = !isMultiFactor && (await needsSecondFactor(context.db.read, proof.userId));
  await openSession(context, request, reply, { ...proof, state: pending ? 'pending' : 'complete' });
  const target = safeReturnPath(to);
  return reply.redirect(pending ? `/sign-in/second-factor?to=${encodeURIComponent(target)}` : target, 303);
}

/** Completes a sign-in of which only the second factor was missing. @throws SessionEnded when it ended in the meantime */
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
    state: 'complete',
    method: `${method}+${factor}`,
    replacesCurrent: true,
  });
}
