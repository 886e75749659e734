import { fastifyCookie } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Attribution, Actor } from '../auth/callers.ts';
import type { Context } from '../runtime/context.ts';
import { endSessionIfAny } from '../domain/sign-in/end-sessions.ts';
import {
  type Browser,
  lockAccountForSignIn,
  isUseDue,
  recordSessionUse,
  type Session,
  SessionEnded,
  sessionBySecret,
  type SessionLimits,
  startSession,
} from '../domain/sign-in/sessions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The browser session of the request, once someone has asked for it; `null` where there is none. */
    session: Session | null | undefined;
  }
}

/** Nobody is signed in where someone must be. The pages send the browser to sign in. */
export class SignInRequired extends Error {
  override name = 'SignInNeeded';
}

/**
 * @returns the session that the request's cookie names, pending ones included; `null` when there is none. Asked twice
 *   in a request, it answers the same.
 */
export async function readSession(context: Context, request: FastifyRequest): Promise<Session | null> {
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

/** @returns the session of someone who signed in completely; `null` when there is none */
export async function readSignedInSession(
  context: Context,
  request: FastifyRequest,
): Promise<Session | null> {
  const session = await readSession(context, request);
  return session?.state === 'complete' ? session : null;
}

/** @returns the session of a request whose route wants one */
export function signedInSession(request: FastifyRequest): Session {
  if (request.session?.state !== 'complete')
    throw new SignInRequired('This page is for people who signed in.');
  return request.session;
}

/** @returns what the visitor of a page does now: whoever signed in, if only with the first of two factors, or a stranger */
export function attributionOf(request: FastifyRequest, now: number): Attribution {
  const { address, id: requestId, session } = request;
  const actor: Actor =
    session === null || session === undefined
      ? { kind: 'stranger', userId: null, credentialId: null, address, requestId }
      : { kind: 'user', userId: session.userId, credentialId: session.id, address, requestId };
  return { actor, now };
}

/** Who signs in, how, and what that rests on. */
export interface NewSession {
  userId: number;
  organizationId: number | null;
  state: Session['state'];
  method: string;
  /** What their password was compared with, where they sent one. */
  passwordHash?: string | undefined;
  /** Whether it takes the place of the session that the browser has, and is nothing without it. */
  replacesCurrent?: boolean;
}

/**
 * Starts a session in this browser and sets its cookie. The one that it had before ends: an identifier that was known
 * before someone signed in is good for nothing after.
 * @throws SessionEnded when what it rests on has changed in the meantime
 */
export async function openSession(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { passwordHash, replacesCurrent = false, ...input }: NewSession,
): Promise<void> {
  const { db, clock } = context;
  const before = await readSession(context, request);
  const now = clock();
  const { secret } = await db.write(async (tx) => {
    await lockAccountForSignIn(tx, { ...input, passwordHash });
    const replaced =
      before !== null && (await endSessionIfAny(tx, attributionOf(request, now), before, before.id));
    if (replacesCurrent && !replaced)
      throw new SessionEnded('The session ended while something was done in it.');
    return startSession(
      tx,
      attributionOf(request, now),
      { ...input, browser: userAgentOf(request) },
      sessionLimits(context),
    );
  });
  setSessionCookie(context, reply, secret);
  // What follows in this request is done by whoever has just signed in.
  request.session = (await sessionBySecret(db.read, secret, sessionLimits(context), now)) ?? null;
}

/** Puts the secret of a session into this browser's cookie. */
export function setSessionCookie(context: Context, reply: FastifyReply, secret: string): void {
  reply.setCookie(sessionCookieName(context), secret, cookieOptions(context));
}

/** Takes the cookie out of this browser. */
export function clearSessionCookie(context: Context, reply: FastifyReply): void {
  reply.clearCookie(sessionCookieName(context), cookieOptions(context));
}

export function sessionLimits({ config }: Context): SessionLimits {
  return { idle: config.sessionIdle, lifetime: config.sessionLifetime };
}

export function userAgentOf(request: FastifyRequest): Browser {
  return { address: request.address, userAgent: request.headers['user-agent'] ?? '' };
}

/** Whether browsers reach this server over https, so that cookies may insist on it. */
export function usesHttps({ addresses }: Context): boolean {
  return addresses.clientBaseUrl.startsWith('https:');
}

/**
 * Lax, as a client's link to /oauth/authorize comes from another site and must find the session; what changes anything is
 * a POST, which Lax keeps the cookie from.
 */
export function cookieOptions(context: Context) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: usesHttps(context) } as const;
}

/** @returns a cookie's name, with the prefix by which a browser keeps other hosts and plain HTTP from setting it */
export function prefixedCookieName(context: Context, name: string): string {
  return usesHttps(context) ? `__Host-assay-${name}` : `assay-${name}`;
}

function sessionCookieName(context: Context): string {
  return prefixedCookieName(context, 'session');
}
