import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Act } from '../auth/callers.ts';
import { isVerifierOf } from '../auth/pkce.ts';
import { ALL_SCOPES, type Scope } from '../auth/scopes.ts';
import type { Context } from '../runtime/context.ts';
import {
  type AccessGrant,
  scopesIn,
  sharedTokenStore,
  signAccessToken,
  signFor,
  type SignedToken,
  storeAccessToken,
} from '../domain/tokens/access-tokens.ts';
import { findCode, takeCode } from '../domain/tokens/authorization-codes.ts';
import { Failure } from '../domain/shared/errors.ts';
import { type Grant, type RevocationReason, revokeGrant } from '../domain/tokens/grants.ts';
import type { KnownClient, KnownClients } from '../domain/tokens/client-cache.ts';
import { CONSOLE_CLIENT, type OAuthClient, scopesFor } from '../domain/tokens/oauth-clients.ts';
import {
  issueRefreshToken,
  refreshTokenBySecret,
  takeRefreshToken,
} from '../domain/tokens/refresh-tokens.ts';
import { requireSession, SessionEnded } from '../domain/sign-in/sessions.ts';
import { authenticateClient } from './client-authentication.ts';
import { formParameters, required } from './form-parameters.ts';
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
  client: KnownClient;
  /** Stores a token that comes of nothing that has to be used up with it. */
  storeShared: ReturnType<typeof sharedTokenStore>;
  parameters: Partial<Record<(typeof PARAMETERS)[number], string>>;
  act: ReturnType<typeof actOfClient>;
  now: number;
}

/** What came of a grant. */
interface Issued {
  access: SignedToken;
  refreshToken?: string;
}

const GRANTS: Readonly<Record<string, (request: TokenRequest) => Promise<Issued>>> = {
  authorization_code: redeemCode,
  refresh_token: refresh,
  client_credentials: actAsOwnAccount,
};

/** The grant types that the token endpoint takes. */
export const GRANT_TYPES = Object.keys(GRANTS);

/** Adds the token endpoint (RFC 6749, section 3.2). */
export function registerToken(scope: FastifyInstance, context: Context, clients: KnownClients): void {
  const storeShared = sharedTokenStore(context.db);
  scope.post(
    '/oauth/token',
    { config: { operation: 'oauth-token', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      const parameters = formParameters(request.body, PARAMETERS);
      const grantType = required(parameters, 'grant_type');
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
        act: actOfClient(client, request, now),
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
export function actOfClient(
  client: OAuthClient,
  { address, id: requestId }: FastifyRequest,
  now: number,
): (owner: { userId: number; grantId: string | null }) => Act {
  return ({ userId, grantId }) => {
    const kind = grantId === null ? 'client' : 'user';
    return { actor: { kind, userId, credentialId: client.id, address, requestId }, now };
  };
}

/** RFC 6749, section 4.1.3, with PKCE (RFC 7636, section 4.5), which every code was asked for with. */
async function redeemCode({ context, client, parameters, act, now }: TokenRequest): Promise<Issued> {
  const { db, config } = context;
  const code = required(parameters, 'code');
  const found = await findCode(db.read, code);
  if (found === undefined || found.clientId !== client.id) throw badGrant('code');
  const by = act(found);
  const seenAgain = () => endGrant(context, by, found, 'code-reused');
  if (found.usedAt !== null) return seenAgain();
  if (found.expiresAt <= now) throw badGrant('code');
  if (found.redirectUri !== null && found.redirectUri !== parameters.redirect_uri)
    throw new OAuthError('invalid_grant', 'The redirect_uri is not that of the authorization request.');
  if (!isVerifierOf(found.codeChallenge, parameters.code_verifier ?? ''))
    throw new OAuthError('invalid_grant', 'The code_verifier does not belong to the code.');

  const access = await sign(context, found, 'invalid_grant', now);
  const issued = await db
    .write(async (tx): Promise<Issued | undefined> => {
      if (!(await takeCode(tx, code, now))) return undefined;
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
    .catch(refuseWith('invalid_grant'));
  return issued ?? seenAgain();
}

/** RFC 6749, section 6, with rotation (RFC 9700, section 4.14.2). */
async function refresh({ context, client, parameters, act, now }: TokenRequest): Promise<Issued> {
  const { db, config } = context;
  const found = await refreshTokenBySecret(db.read, required(parameters, 'refresh_token'));
  if (found === undefined || found.clientId !== client.id) throw badGrant('refresh token');
  const by = act(found);
  const seenAgain = () => endGrant(context, by, found, 'refresh-token-reused');
  if (found.usedAt !== null) return seenAgain();
  if (found.revokedAt !== null || found.expiresAt <= now) throw badGrant('refresh token');
  const asked = requestedScopes(parameters.scope) ?? found.scopes;
  if (!asked.every((scope) => found.scopes.includes(scope)))
    throw new OAuthError('invalid_scope', 'The scope is more than the grant has.');

  const access = await sign(context, { ...found, scopes: asked }, 'invalid_grant', now);
  const refreshToken = await db
    .write(async (tx) => {
      if (!(await takeRefreshToken(tx, found.id, now))) return undefined;
      await storeAccessToken(tx, by, access);
      const { scopes, grantId, grantExpiresAt } = found;
      const next = { ...access, scopes, grantId, grantExpiresAt };
      return issueRefreshToken(tx, by, next, config.refreshTokenLifetime, found.id);
    })
    .catch(refuseWith('invalid_grant'));
  return refreshToken === undefined ? seenAgain() : { access, refreshToken };
}

/** RFC 6749, section 4.4: the client acts as the account that it was registered with. */
async function actAsOwnAccount(request: TokenRequest): Promise<Issued> {
  const { context, client, storeShared, parameters, act, now } = request;
  if (client.kind === 'public' || client.userId === null)
    throw new OAuthError('unauthorized_client', 'The client has no account that it could act as.');
  const scopes = scopesFor(client, requestedScopes(parameters.scope) ?? ALL_SCOPES);
  const grant = { userId: client.userId, clientId: client.id, grantId: null, scopes };
  const { keys, config } = context;
  const access = await signFor(client.account, keys, grant, config.accessTokenLifetime, now).catch(
    refuseWith('unauthorized_client'),
  );
  await storeShared(act(grant), access).catch(refuseWith('unauthorized_client'));
  return { access };
}

function sign(
  { db, keys, config }: Context,
  { userId, clientId, grantId, scopes }: AccessGrant,
  whenGone: OAuthErrorCode,
  now: number,
): Promise<SignedToken> {
  const grant = { userId, clientId, grantId, scopes };
  return signAccessToken(db.read, keys, grant, config.accessTokenLifetime, now).catch(refuseWith(whenGone));
}

/** Ends everything that came of something that was seen twice: one of the two was a thief. */
async function endGrant({ db }: Context, act: Act, grant: Grant, reason: RevocationReason): Promise<never> {
  await db.write((tx) => revokeGrant(tx, act, grant, reason));
  throw badGrant(reason === 'code-reused' ? 'code' : 'refresh token');
}

/** @throws OAuthError `invalid_scope` for what is no scope */
function requestedScopes(text: string | undefined): readonly Scope[] | undefined {
  const scopes = text === undefined ? undefined : scopesIn(text);
  if (text !== undefined && scopes === undefined)
    throw new OAuthError('invalid_scope', 'The scope names something that is no scope.');
  return scopes;
}

/** @param whenGone the code for an account that is banned or gone */
function refuseWith(whenGone: OAuthErrorCode): (error: unknown) => never {
  return (error) => {
    if (error instanceof SessionEnded) throw badGrant('code');
    if (!(error instanceof Failure)) throw error;
    if (error.kind === 'forbidden')
      throw new OAuthError('invalid_scope', 'The account or the client may hold none of the scopes.');
    throw new OAuthError(whenGone, 'The account is banned or gone.');
  };
}

/** Unknown, another client's, expired, revoked or used: nobody is told which. */
function badGrant(thing: string): OAuthError {
  return new OAuthError(
    'invalid_grant',
    `The ${thing} is not valid: it is unknown, expired, revoked or used.`,
  );
}
