import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ChangeContext } from '../auth/callers.ts';
import { matchesCodeChallenge } from '../auth/secrets.ts';
import { ALL_SCOPES, coversScope, defaultScopes, type Scope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
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

/** A request to the token endpoint, from an authenticated client. */
interface TokenRequest {
  context: Context;
  client: CachedClient;
  /** Stores a token in a transaction that is shared with other requests. */
  storeBatched: ReturnType<typeof createTokenBatcher>;
  parameters: Partial<Record<(typeof PARAMETERS)[number], string>>;
  changeContextFor: ReturnType<typeof changeContextOfClient>;
  now: number;
}

interface IssuedTokens {
  access: SignedToken;
  refreshToken?: string;
}

const GRANTS: Readonly<Record<string, (request: TokenRequest) => Promise<IssuedTokens>>> = {
  authorization_code: redeemCode,
  refresh_token: redeemRefreshToken,
  client_credentials: grantClientCredentials,
};

export const GRANT_TYPES = Object.keys(GRANTS);

/** Registers the token endpoint (RFC 6749, section 3.2). */
export function registerToken(scope: FastifyInstance, context: Context, clients: ClientCache): void {
  const storeBatched = createTokenBatcher(context.db);
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
          `The grant_type must be one of ${GRANT_TYPES.join(', ')}.`,
        );
      const now = context.clock();
      const { access, refreshToken } = await grant({
        context,
        client,
        storeBatched,
        parameters,
        changeContextFor: changeContextOfClient(client, request, now),
        now,
      });
      // RFC 6749, section 5.1, requires both headers.
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
 * Attributes a client's request to the user of an approved grant, or to the client's own account.
 * @returns a function from the owner of the grant to the change context
 */
export function changeContextOfClient(
  client: OAuthClient,
  { address, id: requestId }: FastifyRequest,
  now: number,
): (owner: { userId: number; grantId: string | null }) => ChangeContext {
  return ({ userId, grantId }) => {
    const kind = grantId === null ? 'client' : 'user';
    return { actor: { kind, userId, credentialId: client.id, address, requestId }, now };
  };
}

/** RFC 6749, section 4.1.3, with PKCE (RFC 7636, section 4.5), which is required. */
async function redeemCode({
  context,
  client,
  parameters,
  changeContextFor,
  now,
}: TokenRequest): Promise<IssuedTokens> {
  const { db, config } = context;
  const code = requireParameter(parameters, 'code');
  const storedCode = await findAuthorizationCode(db.read, code);
  if (storedCode === undefined || storedCode.clientId !== client.id) throw invalidGrant('code');
  const by = changeContextFor(storedCode);
  const rejectReuse = () => revokeReusedGrant(context, by, storedCode, 'code-reused');
  if (storedCode.usedAt !== null) return rejectReuse();
  if (storedCode.expiresAt <= now) throw invalidGrant('code');
  if (storedCode.redirectUri !== null && storedCode.redirectUri !== parameters.redirect_uri)
    throw new OAuthError('invalid_grant', 'The redirect_uri differs from that of the authorization request.');
  if (!matchesCodeChallenge(storedCode.codeChallenge, parameters.code_verifier ?? ''))
    throw new OAuthError('invalid_grant', 'The code_verifier does not match the code_challenge.');

  const access = await sign(context, storedCode, 'invalid_grant', now);
  const issued = await db
    .write(async (tx): Promise<IssuedTokens | undefined> => {
      if (!(await consumeCode(tx, code, now))) return undefined;
      await storeAccessToken(tx, by, access);
      if (client.id === CONSOLE_CLIENT) {
        // Runs after the token is inserted: a transaction that ends the session waits, and then finds the token to
        // revoke.
        await requireSession(tx, storedCode.grantId);
        // No refresh token: the console gets new access tokens by its browser session.
        return { access };
      }
      const { scopes, grantId } = storedCode;
      const next = { ...access, scopes, grantId, grantExpiresAt: now + config.grantLifetime };
      return {
        access,
        refreshToken: await issueRefreshToken(tx, by, next, config.refreshTokenLifetime, null),
      };
    })
    .catch(rethrowAsOAuthError('invalid_grant'));
  return issued ?? rejectReuse();
}

/** RFC 6749, section 6, with rotation (RFC 9700, section 4.14.2). */
async function redeemRefreshToken({
  context,
  client,
  parameters,
  changeContextFor,
  now,
}: TokenRequest): Promise<IssuedTokens> {
  const { db, config } = context;
  const storedToken = await refreshTokenBySecret(db.read, requireParameter(parameters, 'refresh_token'));
  if (storedToken === undefined || storedToken.clientId !== client.id) throw invalidGrant('refresh token');
  const by = changeContextFor(storedToken);
  const rejectReuse = () => revokeReusedGrant(context, by, storedToken, 'refresh-token-reused');
  if (storedToken.usedAt !== null) return rejectReuse();
  if (storedToken.revokedAt !== null || storedToken.expiresAt <= now) throw invalidGrant('refresh token');
  const scopes = requestedScopes(parameters.scope) ?? storedToken.scopes;
  const approvedScopes = new Set(storedToken.scopes);
  if (!scopes.every((scope) => coversScope(approvedScopes, scope)))
    throw new OAuthError('invalid_scope', 'The scope exceeds that of the grant.');

  const access = await sign(context, { ...storedToken, scopes }, 'invalid_grant', now);
  const refreshToken = await db
    .write(async (tx) => {
      if (!(await consumeRefreshToken(tx, storedToken.id, now))) return undefined;
      await storeAccessToken(tx, by, access);
      const { grantId, grantExpiresAt } = storedToken;
      const next = { ...access, scopes: storedToken.scopes, grantId, grantExpiresAt };
      return issueRefreshToken(tx, by, next, config.refreshTokenLifetime, storedToken.id);
    })
    .catch(rethrowAsOAuthError('invalid_grant'));
  return refreshToken === undefined ? rejectReuse() : { access, refreshToken };
}

/** RFC 6749, section 4.4: the client acts as its own account. */
async function grantClientCredentials(request: TokenRequest): Promise<IssuedTokens> {
  const { context, client, storeBatched, parameters, changeContextFor, now } = request;
  if (client.kind === 'public' || client.userId === null)
    throw new OAuthError('unauthorized_client', 'The client has no account of its own.');
  const requested = requestedScopes(parameters.scope);
  const scopes =
    requested === undefined
      ? defaultScopes(clientScopes(client, ALL_SCOPES))
      : clientScopes(client, requested);
  const grant = { userId: client.userId, clientId: client.id, grantId: null, scopes };
  const { keys, config } = context;
  const access = await signTokenForAccount(
    client.account,
    keys,
    grant,
    config.accessTokenLifetime,
    now,
  ).catch(rethrowAsOAuthError('unauthorized_client'));
  await storeBatched(changeContextFor(grant), access).catch(rethrowAsOAuthError('unauthorized_client'));
  return { access };
}

function sign(
  { db, keys, config }: Context,
  { userId, clientId, grantId, scopes }: AccessGrant,
  codeWhenDeleted: OAuthErrorCode,
  now: number,
): Promise<SignedToken> {
  const grant = { userId, clientId, grantId, scopes };
  return signAccessToken(db.read, keys, grant, config.accessTokenLifetime, now).catch(
    rethrowAsOAuthError(codeWhenDeleted),
  );
}

/** Revokes the grant of a code or refresh token that was used twice: one of the uses was by a thief. */
async function revokeReusedGrant(
  { db }: Context,
  by: ChangeContext,
  grant: Grant,
  reason: RevocationReason,
): Promise<never> {
  await db.write((tx) => revokeGrant(tx, by, grant, reason));
  throw invalidGrant(reason === 'code-reused' ? 'code' : 'refresh token');
}

/** @throws OAuthError `invalid_scope` for an unknown scope */
function requestedScopes(text: string | undefined): readonly Scope[] | undefined {
  const scopes = text === undefined ? undefined : parseScopes(text);
  if (text !== undefined && scopes === undefined)
    throw new OAuthError('invalid_scope', 'The scope contains an unknown scope.');
  return scopes;
}

/** @param codeWhenDeleted the code for a banned or deleted account */
function rethrowAsOAuthError(codeWhenDeleted: OAuthErrorCode): (error: unknown) => never {
  return (error) => {
    if (error instanceof SessionEnded) throw invalidGrant('code');
    if (!(error instanceof DomainError)) throw error;
    if (error.kind === 'forbidden')
      throw new OAuthError(
        'invalid_scope',
        'None of the requested scopes can be granted to this account and client.',
      );
    throw new OAuthError(codeWhenDeleted, 'The account is banned or deleted.');
  };
}

/** Returns the same error for every reason, so that it reveals nothing about the token. */
function invalidGrant(credential: string): OAuthError {
  return new OAuthError('invalid_grant', `The ${credential} is unknown, expired, revoked or already used.`);
}
