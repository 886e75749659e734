import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { credentialById } from '../domain/tokens/credentials.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { revokeGrant } from '../domain/tokens/grants.ts';
import type { OAuthClient } from '../domain/tokens/oauth-clients.ts';
import { refreshTokenBySecret } from '../domain/tokens/refresh-tokens.ts';
import { revokeToken } from '../domain/tokens/tokens.ts';
import { authenticateClient } from './client-authentication.ts';
import { parseFormParameters, requireParameter } from './form-parameters.ts';
import type { ClientCache } from '../domain/tokens/client-cache.ts';
import { OAuthError } from './oauth-error.ts';
import { changeContextOfClient } from './token.ts';

const PARAMETERS = ['token', 'token_type_hint', 'client_id', 'client_secret'] as const;

interface Revocation {
  client: OAuthClient;
  changeContextFor: ReturnType<typeof changeContextOfClient>;
  now: number;
}

/** Registers the revocation endpoint (RFC 7009). Ignores the hint, as the form of a token identifies its kind. */
export function registerRevocation(app: FastifyInstance, context: Context, clients: ClientCache): void {
  app.post(
    '/oauth/revoke',
    { config: { operation: 'oauth-revoke', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      const parameters = parseFormParameters(request.body, PARAMETERS);
      const token = requireParameter(parameters, 'token');
      const client = await authenticateClient(context, clients, request, parameters);
      const now = context.clock();
      const revocation = { client, changeContextFor: changeContextOfClient(client, request, now), now };
      if (isJwt(token)) await revokeAccessToken(context, token, revocation);
      else await revokeRefreshToken(context, token, revocation);
      return reply.code(200).send();
    },
  );
}

/** Whether a token is a JWT: our other tokens contain no dot. */
export function isJwt(token: string): boolean {
  return token.includes('.');
}

/** Leaves the refresh token of the grant, with which the client can get another access token. */
async function revokeAccessToken(
  { db, keys }: Context,
  token: string,
  revocation: Revocation,
): Promise<void> {
  const { client, changeContextFor, now } = revocation;
  const claims = await keys.verify(token, now);
  if (claims?.jti === undefined) return;
  if (claims['client_id'] !== client.id) throw issuedToOtherClient();
  const { jti } = claims;
  const credential = await credentialById(db.read, jti);
  if (credential === undefined || credential.revokedAt !== null) return;
  await db
    .write((tx) => revokeToken(tx, changeContextFor(credential), jti))
    .catch((error: unknown) => {
      // The token was deleted since it was read.
      if (!(error instanceof DomainError && error.kind === 'not-found')) throw error;
    });
}

/** Revokes the whole grant, with its access tokens (RFC 7009, section 2.1). */
async function revokeRefreshToken({ db }: Context, token: string, revocation: Revocation): Promise<void> {
  const { client, changeContextFor } = revocation;
  const refreshToken = await refreshTokenBySecret(db.read, token);
  if (refreshToken === undefined) return;
  if (refreshToken.clientId !== client.id) throw issuedToOtherClient();
  await db.write((tx) => revokeGrant(tx, changeContextFor(refreshToken), refreshToken, 'revoked-by-client'));
}

/** The error for a token of another client (RFC 7009, section 2.1). */
function issuedToOtherClient(): OAuthError {
  return new OAuthError('invalid_grant', 'The token was issued to another client.');
}
