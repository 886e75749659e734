import type { FastifyReply, FastifyRequest } from 'fastify';
import { seal, unseal } from '../auth/sealing.ts';
import type { Context } from '../runtime/context.ts';
import { prefixedCookieName, cookieOptions } from '../http/browser-sessions.ts';
import type { AuthorizationState } from './provider.ts';

const PURPOSE = 'single sign-on attempt';
const LIFETIME = 600_000;
/** The longest way back, in characters: with it, the cookie still is one that every browser keeps. */
export const MAX_RETURN_TO = 2_048;

/** A sign-in that went off to a provider and has not come back. */
export interface PendingSignIn extends AuthorizationState {
  /** The uid of the organization whose provider it was, and what that was. */
  organization: string;
  issuer: string;
  clientId: string;
  /** Where it leads in the end. */
  returnTo: string;
}

/** An attempt that came back, and until when it is good. */
export interface ReturnedSignIn extends PendingSignIn {
  /** In milliseconds since 1970. */
  expiresAt: number;
}

/** Keeps an attempt in this browser: sealed, for ten minutes. A second attempt takes the place of the first. */
export function savePendingSignIn(context: Context, reply: FastifyReply, attempt: PendingSignIn): void {
  const text = JSON.stringify({ ...attempt, expiresAt: context.clock() + LIFETIME });
  reply.setCookie(cookieName(context), seal(context.keys.secret, PURPOSE, text), {
    ...cookieOptions(context),
    maxAge: LIFETIME / 1_000,
  });
}

/**
 * Takes the attempt out of this browser. A copy of its cookie may be about: whoever signs somebody in consumes its state.
 * @returns it; `undefined` when this browser has none, or it is too old
 */
export function takePendingSignIn(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): ReturnedSignIn | undefined {
  const sealed = request.cookies[cookieName(context)];
  reply.clearCookie(cookieName(context), cookieOptions(context));
  const text = sealed === undefined ? undefined : unseal(context.keys.secret, PURPOSE, sealed);
  if (text === undefined) return undefined;
  const attempt = JSON.parse(text) as ReturnedSignIn;
  return attempt.expiresAt > context.clock() ? attempt : undefined;
}

function cookieName(context: Context): string {
  return prefixedCookieName(context, 'single-sign-on');
}
