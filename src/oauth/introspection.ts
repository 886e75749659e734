import type { FastifyInstance } from 'fastify';
import { isAdminOf } from '../auth/callers.ts';
import { isPersonalToken, hasPersonalPrefix } from '../auth/secrets.ts';
import type { Context } from '../context.ts';
import type { OAuthClient } from '../domain/tokens/oauth-clients.ts';
import {
  type ActiveToken,
  findActivePersonalToken,
  findActiveRefreshToken,
  findActiveAccessToken,
  findAccountRights,
} from '../domain/tokens/active-tokens.ts';
import type { ClientCache } from '../domain/tokens/client-cache.ts';
import { authenticateClient, requireConfidential } from './client-authentication.ts';
import { parseFormParameters, requireParameter } from './form-parameters.ts';
import { isJwt } from './revocation.ts';

const PARAMETERS = ['token', 'token_type_hint', 'client_id', 'client_secret'] as const;

/** A valid token, and the fields of the response that depend on its kind. */
interface IntrospectedToken {
  token: ActiveToken;
  kindFields: { iss: string; token_type?: 'Bearer'; aud?: string | string[]; client_id?: string };
}

/** Registers the introspection endpoint for confidential clients (RFC 7662). */
export function registerIntrospection(app: FastifyInstance, context: Context, clients: ClientCache): void {
  app.post(
    '/oauth/introspect',
    { config: { operation: 'oauth-introspect', access: 'open' }, schema: { hide: true } },
    async (request) => {
      const parameters = parseFormParameters(request.body, PARAMETERS);
      const tokenText = requireParameter(parameters, 'token');
      const client = requireConfidential(await authenticateClient(context, clients, request, parameters));
      const introspected = await findToken(context, tokenText, context.clock());
      // A token that the client may not introspect is reported as inactive (RFC 7662, section 2.2).
      if (introspected === undefined || !(await canIntrospect(context, client, introspected.token)))
        return { active: false };
      return introspectionResponse(introspected);
    },
  );
}

/** Finds a valid token of any kind. Needs no hint, as the form of a token identifies its kind. */
async function findToken(
  context: Context,
  tokenText: string,
  now: number,
): Promise<IntrospectedToken | undefined> {
  const { db, addresses } = context;
  if (isJwt(tokenText)) return findAccessToken(context, tokenText, now);
  const iss = addresses.issuer;
  if (!hasPersonalPrefix(tokenText)) {
    const token = await findActiveRefreshToken(db.read, tokenText, now);
    return token && { token, kindFields: { iss } };
  }
  const token = isPersonalToken(tokenText)
    ? await findActivePersonalToken(db.read, tokenText, now)
    : undefined;
  return token && { token, kindFields: { iss, aud: iss, token_type: 'Bearer' } };
}

async function findAccessToken(
  { db, keys }: Context,
  tokenText: string,
  now: number,
): Promise<IntrospectedToken | undefined> {
  const claims = await keys.verify(tokenText, now);
  if (claims?.jti === undefined || claims.iss === undefined) return undefined;
  const token = await findActiveAccessToken(db.read, claims.jti, now);
  if (token === undefined || token.user.uid !== claims.sub) return undefined;
  const { iss, aud = iss, client_id: clientId } = claims;
  return {
    token,
    kindFields: {
      iss,
      aud,
      token_type: 'Bearer',
      ...(typeof clientId === 'string' && { client_id: clientId }),
    },
  };
}

/** A client may introspect its own tokens, and those of users whom its account administers. */
async function canIntrospect({ db }: Context, client: OAuthClient, token: ActiveToken): Promise<boolean> {
  if (token.clientId === client.id) return true;
  const account = client.userId === null ? undefined : await findAccountRights(db.read, client.userId);
  return account !== undefined && isAdminOf(account, token.user.organizationId);
}

function introspectionResponse({ token, kindFields }: IntrospectedToken): object {
  return {
    active: true,
    scope: token.scopes.join(' '),
    ...(token.clientId === null ? {} : { client_id: token.clientId }),
    username: token.user.email,
    sub: token.user.uid,
    jti: token.id,
    iat: Math.floor(token.issuedAt / 1000),
    ...(token.expiresAt === null ? {} : { exp: Math.floor(token.expiresAt / 1000) }),
    ...kindFields,
    // The resource server must enforce these.
    ...(token.allowedAddresses === null ? {} : { allowed_addresses: token.allowedAddresses }),
  };
}
