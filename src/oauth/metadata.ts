import type { FastifyInstance } from 'fastify';
import { ALL_SCOPES } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { Problem } from '../http/problems.ts';
import { SECRET_METHODS } from './client-authentication.ts';
import { GRANT_TYPES } from './token.ts';

const WELL_KNOWN = '/.well-known/oauth-authorization-server';

/** Registers the metadata of the authorization server (RFC 8414). */
export function registerMetadata(scope: FastifyInstance, context: Context): void {
  const route = { config: { operation: 'oauth-metadata', access: 'open' }, schema: { hide: true } } as const;
  const headers = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' };

  scope.get(WELL_KNOWN, route, async (_request, reply) => reply.headers(headers).send(metadataOf(context)));

  // The path of an issuer follows the well-known path (RFC 8414, section 3.1).
  scope.get<{ Params: { '*': string } }>(`${WELL_KNOWN}/*`, route, async ({ params }, reply) => {
    const { pathname } = new URL(context.addresses.issuer);
    if (pathname === '/' || `/${params['*']}` !== pathname)
      throw new Problem('not-found', 'There is no authorization server with this issuer.', {
        source: 'path',
      });
    return reply.headers(headers).send(metadataOf(context));
  });
}

/** The document of RFC 8414, section 2. */
function metadataOf({ addresses, config }: Context): object {
  const { issuer, authUrl, clientBaseUrl } = addresses;
  const implicit = config.implicitFlow;
  return {
    issuer,
    authorization_endpoint: authUrl,
    token_endpoint: `${clientBaseUrl}/oauth/token`,
    revocation_endpoint: `${clientBaseUrl}/oauth/revoke`,
    introspection_endpoint: `${clientBaseUrl}/oauth/introspect`,
    jwks_uri: `${clientBaseUrl}/.well-known/jwks.json`,
    scopes_supported: ALL_SCOPES,
    response_types_supported: implicit ? ['code', 'token'] : ['code'],
    response_modes_supported: implicit ? ['query', 'fragment'] : ['query'],
    grant_types_supported: implicit ? [...GRANT_TYPES, 'implicit'] : GRANT_TYPES,
    token_endpoint_auth_methods_supported: [...SECRET_METHODS, 'none'],
    revocation_endpoint_auth_methods_supported: [...SECRET_METHODS, 'none'],
    introspection_endpoint_auth_methods_supported: SECRET_METHODS,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${clientBaseUrl}/docs`,
  };
}
