import { fastifyCookie } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ChangeContext, Actor } from '../auth/callers.ts';
import type { Context } from '../context.ts';
import { endSessionIfAny } from '../domain/sign-in/end-sessions.ts';
import { needsSecondFactorToSignIn } from '../domain/sign-in/second-factors.ts';
import {
  type Browser,
  lockAccountForSignIn,
  isUseDue,
  recordSessionUse,
  type Session,
  SessionEnded,
  sessionBySecret,
  type SessionLimits,
  type SignInCredential,
  startSession,
} from '../domain/sign-in/sessions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The browser session, once read; `null` if there is none. */
    session: Session | null | undefined;
  }
}

/** Thrown when a page requires a signed-in user. The pages plugin redirects to the sign-in page. */
export class SignInRequired extends Error {
  override name = 'SignInRequired';
}

/** Returns the session of the request's cookie, which may be pending, or `null`. Caches it on the request. */
export async function loadSession(context: Context, request: FastifyRequest): Promise<Session | null> {
  if (request.session !== undefined) return request.session;
  const secret = fastifyCookie.parse(request.headers.cookie ?? '')[sessionCookieName(context)];
  const now = context.clock();
  const session =
    secret === undefined
      ? null
      : ((await sessionBySecret(context.db.read, secret, sessionLimits(context), now)) ?? null);
  request.session = session;
  if (session !== null && isUseDue(session, now))
    await context.db.write((tx) => recordSessionUse(tx, session, request.address, now));
  return session;
}

/** Returns the session if the user has completed all factors, else `null`. */
export async function loadSignedInSession(
  context: Context,
  request: FastifyRequest,
): Promise<Session | null> {
  const session = await loadSession(context, request);
  return session?.state === 'complete' ? session : null;
}

/** @throws SignInRequired if no user is signed in */
export function requireSignedInSession(request: FastifyRequest): Session {
  if (request.session?.state !== 'complete') throw new SignInRequired('Sign in to open this page.');
  return request.session;
}

/** Attributes an action on a page to the user, who may have passed only the first of two factors, or to a stranger. */
export function changeContextOf(request: FastifyRequest, now: number): ChangeContext {
  const { address, id: requestId, session } = request;
  const actor: Actor =
    session === null || session === undefined
      ? { kind: 'stranger', userId: null, credentialId: null, address, requestId }
      : { kind: 'user', userId: session.userId, credentialId: session.id, address, requestId };
  return { actor, now };
}

export interface NewSession extends SignInCredential {
  userId: number;
  organizationId: number | null;
  method: string;
  /** Whether the account decides if a second factor has to follow; otherwise the session is complete. */
  isFirstFactor: boolean;
  /** Whether the session replaces the current one, and cannot be opened without it. */
  replacesCurrent?: boolean;
}

/**
 * Opens a session in this browser and sets its cookie. Ends the previous session, so that an identifier known before
 * the sign-in is worthless (session fixation).
 * @returns the state of the session
 * @throws SessionEnded when what the sign-in is based on has changed in the meantime
 */
export async function openSession(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { passwordHash, passkeyId, isFirstFactor, replacesCurrent = false, ...input }: NewSession,
): Promise<Session['state']> {
  const { db, clock, config } = context;
  const before = await loadSession(context, request);
  const now = clock();
  const opened = await db.write(async (tx) => {
    await lockAccountForSignIn(tx, { ...input, passwordHash, passkeyId });
    const waits = isFirstFactor && (await needsSecondFactorToSignIn(tx, input, config.staffSecondFactor));
    const state: Session['state'] = waits ? 'pending' : 'complete';
    const replaced =
      before !== null && (await endSessionIfAny(tx, changeContextOf(request, now), before, before.id));
    if (replacesCurrent && !replaced)
      throw new SessionEnded('The session ended before the sign-in was complete. Sign in again.');
    const started = await startSession(
      tx,
      changeContextOf(request, now),
      { ...input, state, browser: browserOf(request) },
      sessionLimits(context),
    );
    return { ...started, state };
  });
  setSessionCookie(context, reply, opened.secret);
  // The rest of the request runs as the user who just signed in.
  request.session = (await sessionBySecret(db.read, opened.secret, sessionLimits(context), now)) ?? null;
  return opened.state;
}

export function setSessionCookie(context: Context, reply: FastifyReply, secret: string): void {
  reply.setCookie(sessionCookieName(context), secret, cookieOptions(context));
}

export function clearSessionCookie(context: Context, reply: FastifyReply): void {
  reply.clearCookie(sessionCookieName(context), cookieOptions(context));
}

export function sessionLimits({ config }: Context): SessionLimits {
  return { idle: config.sessionIdle, lifetime: config.sessionLifetime };
}

export function browserOf(request: FastifyRequest): Browser {
  return { address: request.address, userAgent: request.headers['user-agent'] ?? '' };
}

/** Whether browsers use https to reach this server, so that cookies can be `Secure`. */
export function usesHttps({ addresses }: Context): boolean {
  return addresses.clientBaseUrl.startsWith('https:');
}

/**
 * `Lax`: a client links to /oauth/authorize from another site, and the request must carry the session. Browsers still
 * withhold the cookie from cross-site POSTs. A cross-site GET grants only what the user has already consented to.
 */
export function cookieOptions(context: Context) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: usesHttps(context) } as const;
}

/** Prefixes the name, so that browsers keep other hosts and plain HTTP from setting the cookie. */
export function prefixedCookieName(context: Context, name: string): string {
  return usesHttps(context) ? `__Host-assay-${name}` : `assay-${name}`;
}

function sessionCookieName(context: Context): string {
  return prefixedCookieName(context, 'session');
}
