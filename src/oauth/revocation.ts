import type { FastifyInstance } from 'fastify';
import type { Context } from '../runtime/context.ts';
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
import { attributionOfClient } from './token.ts';

const PARAMETERS = ['token', 'token_type_hint', 'client_id', 'client_secret'] as const;

interface Revocation {
  client: OAuthClient;
  act: ReturnType<typeof attributionOfClient>;
  now: number;
}

/** Adds the revocation endpoint (RFC 7009). A token tells by its form what it is, so the hint is not needed. */
export function registerRevocation(scope: FastifyInstance, context: Context, clients: ClientCache): void {
  scope.post(
    '/oauth/revoke',
    { config: { operation: 'oauth-revoke', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      const parameters = parseFormParameters(request.body, PARAMETERS);
      const token = requireParameter(parameters, 'token');
      const client = await authenticateClient(context, clients, request, parameters);
      const now = context.clock();
      const revocation = { client, act: attributionOfClient(client, request, now), now };
      if (isJwt(token)) await revokeAccessToken(context, token, revocation);
      else await revokeRefreshToken(context, token, revocation);
      return reply.code(200).send();
    },
  );
}

/** @returns whether a text has the form of a JWT, which no secret of ours has */
export function isJwt(token: string): boolean {
  return token.includes('.');
}

/** The refresh token of the same grant stays: with it, the client gets another access token. */
async function revokeAccessToken(
  { db, keys }: Context,
  token: string,
  revocation: Revocation,
): Promise<void> {
  const { client, act, now } = revocation;
  const claims = await keys.verify(token, now);
  if (claims?.jti === undefined) return;
  if (claims['client_id'] !== client.id) throw issuedToOtherClient();
  const { jti } = claims;
  const credential = await credentialById(db.read, jti);
  if (credential === undefined || credential.revokedAt !== null) return;
  await db
    .write((tx) => revokeToken(tx, act(credential), jti))
    .catch((error: unknown) => {
      // Gone in the meantime, which is what was wanted.
      if (!(error instanceof DomainError && error.kind === 'not-found')) throw error;
    });
}

/** Whoever gives a refresh token back is done with the grant, so its access tokens end as well (RFC 7009, section 2.1). */
async function revokeRefreshToken({ db }: Context, token: string, revocation: Revocation): Promise<void> {
  const { client, act } = revocation;
  const found = await refreshTokenBySecret(db.read, token);
  if (found === undefined) return;
  if (found.clientId !== client.id) throw issuedToOtherClient();
  await db.write((tx) => revokeGrant(tx, act(found), found, 'revoked-by-client'));
}

/** RFC 7009, section 2.1. Whether the token is still good is told to nobody but its client. */
function issuedToOtherClient(): OAuthError {
  return new OAuthError('invalid_grant', 'The token was issued to another client.');
}
