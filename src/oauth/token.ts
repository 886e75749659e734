import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Attribution } from '../auth/callers.ts';
import { matchesCodeChallenge } from '../auth/pkce.ts';
import { ALL_SCOPES, type Scope } from '../auth/scopes.ts';
import type { Context } from '../runtime/context.ts';
import {
  type AccessGrant,
  parseScopes,
  createTokenBatcher,
  signAccessToken,
  signTokenForAccount,
  type SignedToken,
  storeAccessToken,
} from '../domain/tokens/access-tokens.ts';
import { findAuthorizationCode, consumeCode } from '../domain/tokens/authorization-codes.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { type Grant, type RevocationReason, revokeGrant } from '../domain/tokens/grants.ts';
import type { CachedClient, ClientCache } from '../domain/tokens/client-cache.ts';
import { CONSOLE_CLIENT, type OAuthClient, clientScopes } from '../domain/tokens/oauth-clients.ts';
import {
  issueRefreshToken,
  refreshTokenBySecret,
  consumeRefreshToken,
} from '../domain/tokens/refresh-tokens.ts';
import { requireSession, SessionEnded } from '../domain/sign-in/sessions.ts';
import { authenticateClient } from './client-authentication.ts';
import { parseFormParameters, requireParameter } from './form-parameters.ts';
import { OAuthError, type OAuthErrorCode } from './oauth-error.ts';

const PARAMETERS = [
  'grant_type',
  'client_id',
  'client_secret',
  'code',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'scope',
] as const;

/** What a request for a token has to go by. */
interface TokenRequest {
  context: Context;
  client: CachedClient;
  /** Stores a token that comes of nothing that has to be used up with it. */
  storeShared: ReturnType<typeof createTokenBatcher>;
  parameters: Partial<Record<(typeof PARAMETERS)[number], string>>;
  act: ReturnType<typeof attributionOfClient>;
  now: number;
}

/** What came of a grant. */
interface IssuedTokens {
  access: SignedToken;
  refreshToken?: string;
}

const GRANTS: Readonly<Record<string, (request: TokenRequest) => Promise<IssuedTokens>>> = {
  authorization_code: redeemCode,
  refresh_token: redeemRefreshToken,
  client_credentials: grantClientCredentials,
};

/** The grant types that the token endpoint takes. */
export const GRANT_TYPES = Object.keys(GRANTS);

/** Adds the token endpoint (RFC 6749, section 3.2). */
export function registerToken(scope: FastifyInstance, context: Context, clients: ClientCache): void {
  const storeShared = createTokenBatcher(context.db);
  scope.post(
    '/oauth/token',
    { config: { operation: 'oauth-token', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      const parameters = parseFormParameters(request.body, PARAMETERS);
      const grantType = requireParameter(parameters, 'grant_type');
      const client = await authenticateClient(context, clients, request, parameters);
      const grant = Object.hasOwn(GRANTS, grantType) ? GRANTS[grantType] : undefined;
      if (grant === undefined)
        throw new OAuthError(
          'unsupported_grant_type',
          `The grant type is none of ${GRANT_TYPES.join(', ')}.`,
        );
      const now = context.clock();
      const { access, refreshToken } = await grant({
        context,
        client,
        storeShared,
        parameters,
        act: attributionOfClient(client, request, now),
        now,
      });
      // RFC 6749, section 5.1 wants both headers.
      reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
      return {
        access_token: access.token,
        token_type: 'Bearer',
        expires_in: Math.floor((access.expiresAt - access.issuedAt) / 1000),
        scope: access.scopes.join(' '),
        ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      };
    },
  );
}

/**
 * @returns what makes the act of a client's request: for the user of a grant that somebody approved, or for the account
 *   that the client has of its own
 */
export function attributionOfClient(
  client: OAuthClient,
  { address, id: requestId }: FastifyRequest,
  now: number,
): (owner: { userId: number; grantId: string | null }) => Attribution {
  return ({ userId, grantId }) => {
    const kind = grantId === null ? 'client' : 'user';
    return { actor: { kind, userId, credentialId: client.id, address, requestId }, now };
  };
}

/** RFC 6749, section 4.1.3, with PKCE (RFC 7636, section 4.5), which every code was asked for with. */
async function redeemCode({ context, client, parameters, act, now }: TokenRequest): Promise<IssuedTokens> {
  const { db, config } = context;
  const code = requireParameter(parameters, 'code');
  const found = await findAuthorizationCode(db.read, code);
  if (found === undefined || found.clientId !== client.id) throw invalidGrant('code');
  const by = act(found);
  const seenAgain = () => revokeReusedGrant(context, by, found, 'code-reused');
  if (found.usedAt !== null) return seenAgain();
  if (found.expiresAt <= now) throw invalidGrant('code');
  if (found.redirectUri !== null && found.redirectUri !== parameters.redirect_uri)
    throw new OAuthError('invalid_grant', 'The redirect_uri is not that of the authorization request.');
  if (!matchesCodeChallenge(found.codeChallenge, parameters.code_verifier ?? ''))
    throw new OAuthError('invalid_grant', 'The code_verifier does not belong to the code.');

  const access = await sign(context, found, 'invalid_grant', now);
  const issued = await db
    .write(async (tx): Promise<IssuedTokens | undefined> => {
      if (!(await consumeCode(tx, code, now))) return undefined;
      await storeAccessToken(tx, by, access);
      if (client.id === CONSOLE_CLIENT) {
        // After the token: whoever ends the session meanwhile waits, and finds what it has to end.
        await requireSession(tx, found.grantId);
        // The session of its browser gives the console new ones.
        return { access };
      }
      const { scopes, grantId } = found;
      const next = { ...access, scopes, grantId, grantExpiresAt: now + config.grantLifetime };
      return {
        access,
        refreshToken: await issueRefreshToken(tx, by, next, config.refreshTokenLifetime, null),
      };
    })
    .catch(rethrowAsOAuthError('invalid_grant'));
  return issued ?? seenAgain();
}

/** RFC 6749, section 6, with rotation (RFC 9700, section 4.14.2). */
async function redeemRefreshToken({
  context,
  client,
  parameters,
  act,
  now,
}: TokenRequest): Promise<IssuedTokens> {
  const { db, config } = context;
  const found = await refreshTokenBySecret(db.read, requireParameter(parameters, 'refresh_token'));
  if (found === undefined || found.clientId !== client.id) throw invalidGrant('refresh token');
  const by = act(found);
  const seenAgain = () => revokeReusedGrant(context, by, found, 'refresh-token-reused');
  if (found.usedAt !== null) return seenAgain();
  if (found.revokedAt !== null || found.expiresAt <= now) throw invalidGrant('refresh token');
  const asked = requestedScopes(parameters.scope) ?? found.scopes;
  if (!asked.every((scope) => found.scopes.includes(scope)))
    throw new OAuthError('invalid_scope', 'The scope is more than the grant has.');

  const access = await sign(context, { ...found, scopes: asked }, 'invalid_grant', now);
  const refreshToken = await db
    .write(async (tx) => {
      if (!(await consumeRefreshToken(tx, found.id, now))) return undefined;
      await storeAccessToken(tx, by, access);
      const { scopes, grantId, grantExpiresAt } = found;
      const next = { ...access, scopes, grantId, grantExpiresAt };
      return issueRefreshToken(tx, by, next, config.refreshTokenLifetime, found.id);
    })
    .catch(rethrowAsOAuthError('invalid_grant'));
  return refreshToken === undefined ? seenAgain() : { access, refreshToken };
}

/** RFC 6749, section 4.4: the client acts as the account that it was registered with. */
async function grantClientCredentials(request: TokenRequest): Promise<IssuedTokens> {
  const { context, client, storeShared, parameters, act, now } = request;
  if (client.kind === 'public' || client.userId === null)
    throw new OAuthError('unauthorized_client', 'The client has no account that it could act as.');
  const scopes = clientScopes(client, requestedScopes(parameters.scope) ?? ALL_SCOPES);
  const grant = { userId: client.userId, clientId: client.id, grantId: null, scopes };
  const { keys, config } = context;
  const access = await signTokenForAccount(
    client.account,
    keys,
    grant,
    config.accessTokenLifetime,
    now,
  ).catch(rethrowAsOAuthError('unauthorized_client'));
  await storeShared(act(grant), access).catch(rethrowAsOAuthError('unauthorized_client'));
  return { access };
}

function sign(
  { db, keys, config }: Context,
  { userId, clientId, grantId, scopes }: AccessGrant,
  whenGone: OAuthErrorCode,
  now: number,
): Promise<SignedToken> {
  const grant = { userId, clientId, grantId, scopes };
  return signAccessToken(db.read, keys, grant, config.accessTokenLifetime, now).catch(
    rethrowAsOAuthError(whenGone),
  );
}

/** Ends everything that came of something that was seen twice: one of the two was a thief. */
async function revokeReusedGrant(
  { db }: Context,
  act: Attribution,
  grant: Grant,
  reason: RevocationReason,
): Promise<never> {
  await db.write((tx) => revokeGrant(tx, act, grant, reason));
  throw invalidGrant(reason === 'code-reused' ? 'code' : 'refresh token');
}

/** @throws OAuthError `invalid_scope` for what is no scope */
function requestedScopes(text: string | undefined): readonly Scope[] | undefined {
  const scopes = text === undefined ? undefined : parseScopes(text);
  if (text !== undefined && scopes === undefined)
    throw new OAuthError('invalid_scope', 'The scope names something that is no scope.');
  return scopes;
}

/** @param whenGone the code for an account that is banned or gone */
function rethrowAsOAuthError(whenGone: OAuthErrorCode): (error: unknown) => never {
  return (error) => {
    if (error instanceof SessionEnded) throw invalidGrant('code');
    if (!(error instanceof DomainError)) throw error;
    if (error.kind === 'forbidden')
      throw new OAuthError('invalid_scope', 'The account or the client may hold none of the scopes.');
    throw new OAuthError(whenGone, 'The account is banned or gone.');
  };
}

/** Unknown, another client's, expired, revoked or used: nobody is told which. */
function invalidGrant(thing: string): OAuthError {
  return new OAuthError(
    'invalid_grant',
    `The ${thing} is not valid: it is unknown, expired, revoked or used.`,
  );
}
