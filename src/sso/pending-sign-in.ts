import type { FastifyReply, FastifyRequest } from 'fastify';
import { encryptSecret, decryptSecret } from '../auth/encrypt-secret.ts';
import type { Context } from '../context.ts';
import { prefixedCookieName, cookieOptions } from '../http/browser-sessions.ts';
import type { AuthorizationState } from './provider.ts';

/** Must not change while a sign-in is pending. */
const PURPOSE = 'single sign-on attempt';
const LIFETIME = 600_000;
/** Characters of the return path, so that every browser stores the cookie. */
export const MAX_RETURN_TO = 2_048;

/** A sign-in for which the browser was sent to an identity provider. */
export interface PendingSignIn extends AuthorizationState {
  /** The uid of the organization whose provider it is. */
  organization: string;
  issuer: string;
  clientId: string;
  /** The path to continue at after the sign-in. */
  returnTo: string;
}

/** A pending sign-in whose browser has returned. */
export interface ReturnedSignIn extends PendingSignIn {
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** Stores a pending sign-in in a encrypted cookie for ten minutes. Replaces a previous one. */
export function savePendingSignIn(context: Context, reply: FastifyReply, pending: PendingSignIn): void {
  const text = JSON.stringify({ ...pending, expiresAt: context.clock() + LIFETIME });
  reply.setCookie(cookieName(context), encryptSecret(context.keys.secret, PURPOSE, text), {
    ...cookieOptions(context),
    maxAge: LIFETIME / 1_000,
  });
}

/**
 * Reads and clears the cookie of the pending sign-in. The cookie may have been copied, so the caller must consume its
 * state.
 * @returns `undefined` if there is none, or it has expired
 */
export function takePendingSignIn(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): ReturnedSignIn | undefined {
  const encrypted = request.cookies[cookieName(context)];
  reply.clearCookie(cookieName(context), cookieOptions(context));
  const text = encrypted === undefined ? undefined : decryptSecret(context.keys.secret, PURPOSE, encrypted);
  if (text === undefined) return undefined;
  const pending = JSON.parse(text) as ReturnedSignIn;
  return pending.expiresAt > context.clock() ? pending : undefined;
}

function cookieName(context: Context): string {
  return prefixedCookieName(context, 'single-sign-on');
}
