import { normalizeEmail } from '../auth/email-addresses.ts';
import type { FastifyRequest } from 'fastify';
import { networkPrefix } from '../auth/ip-addresses.ts';
import type { Caller } from '../auth/callers.ts';
import { type Scope, sufficientScopes } from '../auth/scopes.ts';
import { isPersonalToken } from '../auth/secrets.ts';
import type { Context } from '../context.ts';
import { loadSignedInSession, SignInRequired } from './browser-sessions.ts';
import { UNKNOWN_ADDRESS } from './client-address.ts';
import { Problem } from './problems.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { AuthenticatedToken, TokenCache } from '../domain/tokens/token-cache.ts';

export type Access =
  /** A caller whose token has one of these scopes, or `api_read` in place of `api` if the request only reads. */
  | { scopes: readonly Scope[]; schemes: 'bearer' | 'all' }
  /** A user signed in with a browser. Anyone else is redirected to the sign-in page. */
  | 'session'
  /** Anyone, within the rate limit of their IP address. */
  | 'open'
  /** Anyone, without a rate limit: health checks and metrics. */
  | 'unlimited';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Name of the operation in metrics and logs. */
    operation: string;
    access: Access;
  }
  interface FastifyRequest {
    /** Set for routes that require scopes. */
    caller: Caller | null;
    /** @returns whether the credential of the request is still valid and has the same rights */
    isLive: () => Promise<boolean>;
    rateHeaders: Record<string, string> | null;
  }
}

const BASIC = /^basic$/i;
const BEARER = /^bearer$/i;
/** Matches a credential without a scheme: a personal access token or a JWT. */
const TOKEN = /^(assay_|eyJ)/;
const CHALLENGE = 'Bearer realm="assay"';

export interface AccessDependencies {
  tokens: TokenCache;
  limiter: RateLimiter;
  context: Context;
}

/**
 * Authorizes a request and sets `request.caller`. Checks in the order of docs/decided.md, section 4: several
 * credentials, an invalid credential, an address outside the allow list, the rate limit, a missing scope.
 * @throws Problem if the request is denied, SignInRequired if a browser has to sign in first
 */
export async function authorizeRequest(
  request: FastifyRequest,
  { tokens, limiter, context }: AccessDependencies,
): Promise<void> {
  const { access } = request.routeOptions.config;
  if (access === 'unlimited') return;
  const now = context.clock();
  if (access === 'session') {
    const session = await loadSignedInSession(context, request);
    enforceRateLimit(
      request,
      limiter,
      session === null ? anonymousKey(request) : `user:${session.userId}`,
      now,
    );
    if (session === null) throw new SignInRequired('Sign in to open this page.');
    return;
  }
  if (access === 'open') {
    enforceRateLimit(request, limiter, anonymousKey(request), now);
    return;
  }
  const identity = await authenticate(request, access.schemes, { tokens, limiter, context });
  if (
    identity.allowedAddresses !== null &&
    (request.address === UNKNOWN_ADDRESS || !identity.allowedAddresses.has(request.address))
  ) {
    throw new Problem('forbidden', 'This token cannot be used from this IP address.', {
      source: 'Authorization',
    });
  }
  enforceRateLimit(request, limiter, `user:${identity.userId}`, now);
  if (!sufficientScopes(access.scopes, request.method).some((scope) => identity.scopes.has(scope)))
    throw insufficientScope(access.scopes);

  tokens.recordUse(identity.tokenId, { at: now, address: request.address });
  request.caller = {
    kind: identity.kind,
    userId: identity.userId,
    uid: identity.uid,
    credentialId: identity.credentialId,
    organizationId: identity.organizationId,
    admin: identity.admin || identity.staff,
    staff: identity.staff,
    assignedOrganizations: identity.assignedOrganizations,
    scopes: identity.scopes,
    bounds: identity.bounds,
    address: request.address,
    requestId: request.id,
  };
}

/**
 * Counts requests without a valid credential by IP address. Valid credentials behind the same address have limits of
 * their own.
 * @throws Problem `unauthorized`, or `rate-limited` in its place
 */
async function authenticate(
  request: FastifyRequest,
  schemes: 'bearer' | 'all',
  { tokens, limiter, context }: AccessDependencies,
): Promise<AuthenticatedToken> {
  const now = context.clock();
  const clientKey = anonymousKey(request);
  try {
    const { token, email } = readCredential(request, schemes);
    const identity = await tokens.authenticate(token, now, limiter.isExhausted(clientKey, now));
    if (identity === undefined || (email !== undefined && identity.emailKey !== normalizeEmail(email)))
      throw invalidToken();
    const rights = serializeRights(identity);
    request.isLive = async () => {
      const authenticated = await tokens.authenticate(token, context.clock());
      return (
        authenticated !== undefined &&
        (authenticated === identity || serializeRights(authenticated) === rights)
      );
    };
    return identity;
  } catch (error) {
    if (error instanceof Problem && error.type === 'unauthorized')
      enforceRateLimit(request, limiter, clientKey, now);
    throw error;
  }
}

/** Serializes the rights of the credential, so that a stream ends when its caller loses one. */
function serializeRights({ admin, staff, assignedOrganizations, scopes }: AuthenticatedToken): string {
  return JSON.stringify([admin, staff, assignedOrganizations, ...scopes]);
}

/** Returns the key under which the rate limit counts requests without a valid credential: the address. */
function anonymousKey(request: FastifyRequest): string {
  return `address:${networkPrefix(request.address)}`;
}

/**
 * Counts a request that reaches no route by the address of its client.
 * @returns the problem to respond with if the address has exceeded its limit
 */
export function limitAnonymous(
  request: FastifyRequest,
  { limiter, context }: AccessDependencies,
): Problem | undefined {
  return countRequest(request, limiter, anonymousKey(request), context.clock());
}

function enforceRateLimit(request: FastifyRequest, limiter: RateLimiter, key: string, now: number): void {
  const problem = countRequest(request, limiter, key, now);
  if (problem !== undefined) throw problem;
}

function countRequest(
  request: FastifyRequest,
  limiter: RateLimiter,
  key: string,
  now: number,
): Problem | undefined {
  const { allowed, headers } = limiter.consume(key, now);
  request.rateHeaders = headers;
  if (allowed) return undefined;
  return new Problem('rate-limited', `Too many requests. Try again in ${headers['retry-after']} seconds.`, {
    headers,
  });
}

/** Returns the token, and for the Basic scheme the email address that must go with it. */
function readCredential(
  request: FastifyRequest,
  schemes: 'bearer' | 'all',
): { token: string; email?: string } {
  const { authorization } = request.headers;
  const authHeader = schemes === 'all' ? request.headers['x-auth'] : undefined;
  // Node.js returns the first of several Authorization headers and drops the others.
  const hasSeveral = schemes === 'all' && countHeaders(request, 'authorization') > 1;
  if (hasSeveral || (authorization !== undefined && authHeader !== undefined)) {
    throw new Problem('invalid-request', 'Send one credential: a single Authorization header, or X-Auth.', {
      source: 'Authorization',
      headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_request"` },
    });
  }
  if (typeof authHeader === 'string') {
    if (!isPersonalToken(authHeader)) throw invalidToken();
    return { token: authHeader };
  }
  if (authorization === undefined) {
    throw new Problem(
      'unauthorized',
      'Send a token in the Authorization header: "Authorization: Bearer <token>".',
      { source: 'Authorization', headers: { 'www-authenticate': CHALLENGE } },
    );
  }
  const space = authorization.indexOf(' ');
  const scheme = space < 0 ? authorization : authorization.slice(0, space);
  const value = space < 0 ? '' : authorization.slice(space + 1).trim();
  if (BEARER.test(scheme) && value !== '') return { token: value };
  if (schemes === 'all' && BASIC.test(scheme)) return readBasic(value);
  if (space < 0 && TOKEN.test(authorization)) throw missingScheme();
  throw BEARER.test(scheme) ? invalidToken() : unsupportedScheme(schemes);
}

/** Counts the header lines with a name, because Node.js may return only the first. */
export function countHeaders(request: FastifyRequest, name: string): number {
  return request.raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name)
    .length;
}

/** RFC 7617: the email address as user name, a personal access token as password. */
function readBasic(value: string): { token: string; email: string } {
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const token = text.slice(colon + 1);
  if (colon < 0 || !isPersonalToken(token)) throw invalidToken();
  return { token, email: text.slice(0, colon) };
}

/** RFC 6750, section 3.1. Unknown, expired, revoked and banned are indistinguishable. */
function invalidToken(): Problem {
  return new Problem('unauthorized', 'The token is invalid, expired or revoked.', {
    source: 'Authorization',
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  });
}

/** A challenge without an error, as the request has no scheme (RFC 6750, section 3.1). */
function missingScheme(): Problem {
  return new Problem(
    'unauthorized',
    'The Authorization header lacks a scheme. Send "Authorization: Bearer <token>".',
    { source: 'Authorization', headers: { 'www-authenticate': CHALLENGE } },
  );
}

/** Does not echo the credential, which may be a secret. */
function unsupportedScheme(schemes: 'bearer' | 'all'): Problem {
  return new Problem(
    'unauthorized',
    `The Authorization header must use the Bearer${schemes === 'all' ? ' or Basic' : ''} scheme: "Authorization: Bearer <token>".`,
    { source: 'Authorization', headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` } },
  );
}

function insufficientScope(scopes: readonly Scope[]): Problem {
  return new Problem(
    'forbidden',
    `The token lacks a required scope. It needs one of: ${scopes.join(', ')}.`,
    {
      source: 'Authorization',
      headers: {
        'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scopes.join(' ')}"`,
      },
    },
  );
}
