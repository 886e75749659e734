import { fastifyCookie } from '@fastify/cookie';
import fastifyCsrf from '@fastify/csrf-protection';
import fastifyFormbody from '@fastify/formbody';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Context } from '../context.ts';
import type { ListContext } from '../domain/lists/filters.ts';
import { type Session, SessionEnded } from '../domain/sign-in/sessions.ts';
import { type RouteRegistrar, type TypedInstance } from '../http/register-area.ts';
import { SERVER_AREA } from '../http/areas.ts';
import { prefixedCookieName, cookieOptions, loadSession, SignInRequired } from '../http/browser-sessions.ts';
import { logServerError } from '../http/error-log.ts';
import { isCrossOrigin } from '../http/fetch-metadata.ts';
import { SMALL_BODY_LIMIT } from '../http/json-bodies.ts';
import { PROBLEM_TYPES } from '../http/problem-types.ts';
import { Problem, toProblem } from '../http/problems.ts';
import { CONSOLE_HOME, signInPath } from './paths.ts';
import { ErrorPage } from './error-page.tsx';
import { CsrfToken } from './forms.tsx';
import { SessionContext } from './layout.tsx';
import { loadNavigation, type Navigation, NavigationContext, WITHOUT_COUNTS } from './navigation.ts';
import { NowContext } from './relative-time.tsx';

declare module 'fastify' {
  interface FastifyInstance {
    /** Milliseconds since 1970. */
    clock: () => number;
    /** Reads the navigation of the signed-in user. */
    navigationOf: (request: FastifyRequest, session: Session) => Promise<Navigation>;
  }
}

/**
 * Registers routes that return pages: parses forms, checks their tokens, loads the session, and returns errors as
 * pages.
 */
export function registerPages(
  app: FastifyInstance,
  context: Context,
  routes: readonly RouteRegistrar[],
): void {
  app.register(async (scope: FastifyInstance) => {
    scope.decorate('clock', context.clock);
    scope.decorate('navigationOf', (request, session) =>
      loadNavigation({ db: context.db.read, caller: callerOf(request, session), now: context.clock() }),
    );
    await scope.register(fastifyCookie);
    // Also removes the JSON parser of the API, so that only forms are parsed before the token is checked.
    scope.removeAllContentTypeParsers();
    // The longest field is an authorization request as the destination of a sign-in.
    await scope.register(fastifyFormbody, { bodyLimit: SMALL_BODY_LIMIT });
    await scope.register(fastifyCsrf, {
      cookieKey: prefixedCookieName(context, 'form'),
      cookieOpts: cookieOptions(context),
      csrfOpts: { hmacKey: Buffer.from(context.keys.secret).toString('base64url'), userInfo: true },
      getUserInfo: formOwner,
    });
    scope.addHook('onRequest', async (request) => {
      await loadSession(context, request);
    });
    scope.addHook('preValidation', (request, reply, done) => {
      if (isRead(request)) done();
      // Defence in depth: over plain http, and from other ports of the same host, others can set the cookie as well.
      else if (isCrossOrigin(request))
        done(new Problem('forbidden', 'The form was submitted by another site. Submit it from this site.'));
      else scope.csrfProtection(request, reply, done);
    });
    scope.setErrorHandler((error: FastifyError, request, reply) => sendError(context, error, request, reply));
    for (const register of routes)
      register(scope.withTypeProvider<TypeBoxTypeProvider>() as TypedInstance, context);
  });
}

interface PageOptions {
  status?: number;
  /** Origins, or schemes with their colon, to which a form may lead besides this server. */
  formTargets?: readonly string[];
}

/** Sends a page with the form token, the session, the navigation and the current time in its contexts. */
export async function sendHtmlPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: VNode,
  { status = 200, formTargets = [] }: PageOptions = {},
): Promise<FastifyReply> {
  // `generateCsrf` reads the cookies, also for an error that occurs before they are parsed.
  request.cookies ??= fastifyCookie.parse(request.headers.cookie ?? '');
  const session = request.session?.state === 'complete' ? request.session : null;
  // A page of a failure does not depend on the database.
  const navigation =
    session === null || status >= 500 ? WITHOUT_COUNTS : await request.server.navigationOf(request, session);
  const node = (
    <CsrfToken.Provider value={formToken(request, reply)}>
      <SessionContext.Provider value={session}>
        <NavigationContext.Provider value={navigation}>
          <NowContext.Provider value={request.server.clock()}>{page}</NowContext.Provider>
        </NavigationContext.Provider>
      </SessionContext.Provider>
    </CsrfToken.Provider>
  );
  return sendPublicPage(reply, node, status, formTargets);
}

/** The caller of a list, with the rights that the session gives to the console. */
const callerOf = (request: FastifyRequest, session: Session): ListContext['caller'] => ({
  ...session,
  kind: 'user',
  admin: session.admin || session.staff,
  credentialId: session.id,
  scopes: new Set(['api']),
  bounds: { tokenId: null, allowedAddresses: null, expiresAt: null },
  address: request.address,
  requestId: request.id,
});

/** Sends a page that is the same for all visitors: it has no session and no form. */
export function sendPublicPage(
  reply: FastifyReply,
  page: VNode,
  status = 200,
  formTargets: readonly string[] = [],
): FastifyReply {
  return reply
    .code(status)
    .header('content-security-policy', contentSecurityPolicy(formTargets))
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>${renderToString(page)}`);
}

/**
 * Allows styles, scripts and requests of this server only; nothing inline.
 * @param formTargets origins, or schemes with their colon, to which a form may lead
 * @param images further sources of images
 */
export function contentSecurityPolicy(formTargets: readonly string[], images = ''): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "font-src 'self'",
    `img-src 'self' ${images}`.trimEnd(),
    "connect-src 'self'",
    // Browsers apply this to the redirect of a form as well.
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** @returns the token that a form sends back as `_csrf`, and sets its cookie */
export function formToken(request: FastifyRequest, reply: FastifyReply): string {
  return reply.generateCsrf({ userInfo: formOwner(request) });
}

/** A form is valid in the session for which it was rendered. */
function formOwner(request: FastifyRequest): string {
  return request.session?.id ?? 'anonymous';
}

function pageProblem(error: FastifyError): Problem {
  if (error.code?.startsWith('FST_CSRF_')) {
    return new Problem(
      'forbidden',
      'The form has expired, or your browser did not send its cookie. Go back, reload the page and submit the form again.',
    );
  }
  const problem = toProblem(error, SERVER_AREA);
  if (problem.type !== 'unsupported-media-type') return problem;
  return new Problem(
    problem.type,
    'Pages accept forms only. Send Content-Type: application/x-www-form-urlencoded.',
  );
}

async function sendError(
  context: Context,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (error instanceof SignInRequired || error instanceof SessionEnded) {
    // A redirect cannot submit a form again, so the sign-in after a form leads to the console.
    return reply.redirect(signInPath(isRead(request) ? request.url : CONSOLE_HOME), 303);
  }
  const problem = pageProblem(error);
  if (problem.status >= 500) logServerError(context.log, request.id, problem);
  reply.headers(problem.details.headers ?? {});
  const { status } = problem;
  const page = (
    <ErrorPage title={PROBLEM_TYPES[problem.type].title} message={problem.message} requestId={request.id} />
  );
  // A request that has reached no route has no session, and its reply cannot create form tokens.
  if (request.is404) return sendPublicPage(reply, page, status);
  return sendHtmlPage(request, reply, page, { status });
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
