import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../runtime/context.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { endSessionIfAny } from '../domain/sign-in/end-sessions.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { attributionOf, clearSessionCookie, readSignedInSession } from '../http/browser-sessions.ts';
import { toProblem } from '../http/problems.ts';
import { signInPath } from '../pages/paths.ts';
import { ErrorPage } from '../pages/error-page.tsx';
import { sendPage } from '../pages/pages-plugin.tsx';
import { type AuthorizationApproval, grantByNewConsent, grantByStoredConsent } from './approvals.ts';
import {
  AuthorizationQuery,
  formActionSources,
  parseAuthorizationRequest,
  resolveResponseTarget,
} from './authorization-request.ts';
import { AuthorizationError, responseUrl, type ResponseParameters } from './authorization-response.ts';
import { ConsentPage } from './consent-page.tsx';

const MAX_SCOPES_LENGTH = 1_024;

/** One of the two buttons, or the way to another account. */
const DecisionSchema = Type.Object({
  decision: Type.Optional(Type.Union([Type.Literal('allow'), Type.Literal('deny')])),
  account: Type.Optional(Type.Literal('other')),
  /** What the page showed: nothing beyond that is allowed by it. */
  scopes: Type.Optional(Type.String({ maxLength: MAX_SCOPES_LENGTH })),
});

type PageRequest = FastifyRequest<{ Querystring: AuthorizationQuery }>;

/** Takes a request that is in order to its response, or shows the page that asks the user. */
type Decide = (
  approval: AuthorizationApproval,
  withheld: readonly string[],
) => Promise<ResponseParameters | 'asked'>;

/** The authorization endpoint (RFC 6749, section 3.1), for the code flow with PKCE and the implicit flow. */
export const registerAuthorize: RouteRegistrar = (app, context) => {
  app.get(
    '/oauth/authorize',
    {
      config: { operation: 'authorize-page', access: 'open' },
      schema: { hide: true, querystring: AuthorizationQuery },
    },
    async (request, reply) =>
      handleAuthorization(context, request, reply, async (approval, withheld) => {
        const granted = await grantByStoredConsent(context, request, approval);
        return granted ?? sendConsentPage(context, request, reply, approval, withheld);
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
      return handleAuthorization(context, request, reply, async (approval, withheld) => {
        if (decision === 'deny') throw new AuthorizationError('access_denied', 'the user denied the request');
        const seen = shown?.split(' ');
        // The account may hold more now than when the page was shown.
        const scopes = approval.scopes.filter((scope) => seen === undefined || seen.includes(scope));
        if (decision === undefined || scopes.length === 0)
          return sendConsentPage(context, request, reply, approval, withheld);
        return grantByNewConsent(context, request, { ...approval, scopes });
      });
    },
  );
};

/**
 * Checks a request, and answers it. Whoever is not signed in does that first, so that no wrong request alone sends
 * anybody anywhere (RFC 9700, section 4.11.2).
 */
async function handleAuthorization(
  context: Context,
  request: PageRequest,
  reply: FastifyReply,
  decide: Decide,
): Promise<FastifyReply> {
  const found = await resolveResponseTarget(context, request.query);
  if ('fault' in found) return sendErrorPage(request, reply, found.fault);
  const { target } = found;
  const session = await readSignedInSession(context, request);
  if (session === null) return reply.redirect(signInPath(request.url), 303);
  let response: ResponseParameters | 'asked';
  try {
    const { withheld, ...wanted } = parseAuthorizationRequest(context, request.query, target.client, session);
    response = await decide({ session, target, ...wanted }, withheld);
  } catch (error) {
    const { code, message } = toAuthorizationError(context, request, error);
    response = { error: code, error_description: message };
  }
  if (response === 'asked') return reply;
  const address = responseUrl(target.redirectUri, target.mode, {
    ...response,
    state: target.state,
    // RFC 9207: by this a client knows which server answers it.
    iss: context.addresses.issuer,
  });
  return reply.redirect(address, 303);
}

function sendConsentPage(
  { config }: Context,
  request: PageRequest,
  reply: FastifyReply,
  { session, target, scopes, responseType }: AuthorizationApproval,
  withheld: readonly string[],
): 'asked' {
  void sendPage(
    request,
    reply,
    <ConsentPage
      address={request.url}
      application={target.client.name}
      redirectUri={target.redirectUri}
      session={session}
      scopes={scopes}
      withheld={withheld}
      lifetime={responseType === 'token' ? config.accessTokenLifetime : config.grantLifetime}
    />,
    { formTargets: formActionSources(target.redirectUri) },
  );
  return 'asked';
}

/** Signs out, and leads back here by way of the sign-in page. */
async function switchAccount(
  context: Context,
  request: PageRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { session } = request;
  if (session)
    await context.db.write((tx) =>
      endSessionIfAny(tx, attributionOf(request, context.clock()), session, session.id),
    );
  clearSessionCookie(context, reply);
  return reply.redirect(signInPath(request.url), 303);
}

function sendErrorPage(request: PageRequest, reply: FastifyReply, fault: string): FastifyReply {
  return sendPage(
    request,
    reply,
    <ErrorPage
      title="This application cannot sign you in"
      message={`${fault} Go back to the application, and tell whoever runs it.`}
      requestId={request.id}
    />,
    { status: 400 },
  );
}

/** RFC 6749, section 4.1.2.1: what fails here reaches the client as well, as no status can. */
function toAuthorizationError(context: Context, request: PageRequest, error: unknown): AuthorizationError {
  if (error instanceof AuthorizationError) return error;
  // The user was banned, or the client deleted, while this was being granted.
  if (error instanceof DomainError)
    return new AuthorizationError('access_denied', 'the account or the application was closed meanwhile', {
      cause: error,
    });
  const problem = toProblem(error);
  if (problem.type === 'unavailable' || problem.type === 'conflict')
    return new AuthorizationError('temporarily_unavailable', 'try again in a moment', { cause: error });
  context.log.error({ requestId: request.id, err: error }, 'authorization failed');
  return new AuthorizationError('server_error', 'the server failed', { cause: error });
}
