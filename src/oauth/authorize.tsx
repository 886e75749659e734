import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { endSessionIfAny } from '../domain/sign-in/end-sessions.ts';
import { SessionEnded } from '../domain/sign-in/sessions.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf, clearSessionCookie, loadSignedInSession } from '../http/browser-sessions.ts';
import { toProblem } from '../http/problems.ts';
import { signInPath } from '../page-kit/paths.ts';
import { ErrorPage } from '../page-kit/error-page.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { type AuthorizationApproval, grantByNewConsent, grantByStoredConsent } from './approvals.ts';
import {
  AuthorizationQuery,
  cspFormAction,
  parseAuthorizationRequest,
  resolveRecipient,
} from './authorization-request.ts';
import { AuthorizationError, responseUrl, type ResponseParameters } from './authorization-response.ts';
import { ConsentPage } from './consent-page.tsx';

const MAX_SCOPES_LENGTH = 1_024;

const DecisionSchema = Type.Object({
  decision: Type.Optional(Type.Union([Type.Literal('allow'), Type.Literal('deny')])),
  account: Type.Optional(Type.Literal('other')),
  /** The scopes that the page showed: the user allows no others. */
  scopes: Type.Optional(Type.String({ maxLength: MAX_SCOPES_LENGTH })),
});

type PageRequest = FastifyRequest<{ Querystring: AuthorizationQuery }>;

/** Responds to a valid request, or sends the consent page. */
type Decide = (
  approval: AuthorizationApproval,
  deniedScopes: readonly string[],
) => Promise<ResponseParameters | 'consent-page'>;

/** The authorization endpoint (RFC 6749, section 3.1), for the code flow with PKCE and the implicit flow. */
export const registerAuthorize: RouteRegistrar = (app, context) => {
  app.get(
    '/oauth/authorize',
    {
      config: { operation: 'authorize-page', access: 'open' },
      schema: { hide: true, querystring: AuthorizationQuery },
    },
    async (request, reply) =>
      handleAuthorization(context, request, reply, async (approval, deniedScopes) => {
        const granted = await grantByStoredConsent(context, request, approval);
        return granted ?? sendConsentPage(context, request, reply, approval, deniedScopes);
      }),
  );

  app.post(
    '/oauth/authorize',
    {
      config: { operation: 'authorize', access: 'open' },
      schema: { hide: true, querystring: AuthorizationQuery, body: DecisionSchema },
    },
    async (request, reply) => {
      const { decision, account, scopes: shown } = request.body;
      if (account === 'other') return switchAccount(context, request, reply);
      return handleAuthorization(context, request, reply, async (approval, deniedScopes) => {
        if (decision === 'deny') throw new AuthorizationError('access_denied', 'the user denied the request');
        const shownScopes = shown?.split(' ');
        // The account may have more scopes now than when the page was shown.
        const scopes = approval.scopes.filter((scope) => shownScopes?.includes(scope) ?? true);
        if (decision === undefined || scopes.length === 0)
          return sendConsentPage(context, request, reply, approval, deniedScopes);
        return grantByNewConsent(context, request, { ...approval, scopes });
      });
    },
  );
};

/**
 * Validates a request and responds to it. Users must sign in first, so that an invalid request alone never redirects
 * them (RFC 9700, section 4.11.2).
 */
async function handleAuthorization(
  context: Context,
  request: PageRequest,
  reply: FastifyReply,
  decide: Decide,
): Promise<FastifyReply> {
  const resolved = await resolveRecipient(context, request.query);
  if ('error' in resolved) return sendErrorPage(request, reply, resolved.error);
  const { target } = resolved;
  const session = await loadSignedInSession(context, request);
  if (session === null) return reply.redirect(signInPath(request.url), 303);
  let response: ResponseParameters | 'consent-page';
  try {
    const { deniedScopes, ...requested } = parseAuthorizationRequest(
      context,
      request.query,
      target.client,
      session,
    );
    response = await decide({ session, target, ...requested }, deniedScopes);
  } catch (error) {
    if (error instanceof SessionEnded) return reply.redirect(signInPath(request.url), 303);
    const { code, message } = toAuthorizationError(context, request, error);
    response = { error: code, error_description: message };
  }
  if (response === 'consent-page') return reply;
  const address = responseUrl(target.redirectUri, target.mode, {
    ...response,
    state: target.state,
    // Identifies the server to the client (RFC 9207).
    iss: context.addresses.issuer,
  });
  return reply.redirect(address, 303);
}

async function sendConsentPage(
  { config }: Context,
  request: PageRequest,
  reply: FastifyReply,
  { session, target, scopes, responseType }: AuthorizationApproval,
  deniedScopes: readonly string[],
): Promise<'consent-page'> {
  await sendHtmlPage(
    request,
    reply,
    <ConsentPage
      address={request.url}
      application={target.client.name}
      redirectUri={target.redirectUri}
      isIdentified={target.remembersConsent}
      session={session}
      scopes={scopes}
      deniedScopes={deniedScopes}
      lifetime={responseType === 'token' ? config.accessTokenLifetime : config.grantLifetime}
    />,
    { formTargets: cspFormAction(target.redirectUri) },
  );
  return 'consent-page';
}

/** Signs out and redirects to the sign-in page, which leads back here. */
async function switchAccount(
  context: Context,
  request: PageRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { session } = request;
  if (session)
    await context.db.write((tx) =>
      endSessionIfAny(tx, changeContextOf(request, context.clock()), session, session.id),
    );
  clearSessionCookie(context, reply);
  return reply.redirect(signInPath(request.url), 303);
}

function sendErrorPage(request: PageRequest, reply: FastifyReply, error: string): Promise<FastifyReply> {
  return sendHtmlPage(
    request,
    reply,
    <ErrorPage title="This application cannot sign you in" message={error} requestId={request.id} />,
    { status: 400 },
  );
}

/** Errors reach the client as parameters, as a redirect cannot carry a status (RFC 6749, section 4.1.2.1). */
function toAuthorizationError(context: Context, request: PageRequest, error: unknown): AuthorizationError {
  if (error instanceof AuthorizationError) return error;
  // The user was banned or the client deleted during the request.
  if (error instanceof DomainError)
    return new AuthorizationError(
      'access_denied',
      'the account or the application was closed during the request',
      { cause: error },
    );
  const problem = toProblem(error);
  if (problem.type === 'unavailable' || problem.type === 'conflict')
    return new AuthorizationError('temporarily_unavailable', 'try again in a moment', { cause: error });
  context.log.error({ requestId: request.id, err: error }, 'authorization failed');
  return new AuthorizationError('server_error', 'the server failed', { cause: error });
}
