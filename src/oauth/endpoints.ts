import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { ClientCache } from '../domain/tokens/client-cache.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { registerAuthorize } from './authorize.tsx';
import { acceptForms } from './form-parameters.ts';
import { registerIntrospection } from './introspection.ts';
import { registerMetadata } from './metadata.ts';
import { handleOAuthErrors } from './oauth-error.ts';
import { registerRevocation } from './revocation.ts';
import { registerToken } from './token.ts';

/** Seconds for which a browser may cache a preflight. */
const PREFLIGHT_SECONDS = 600;

/** Registers the endpoints that applications call directly: they accept forms, return JSON and ignore cookies. */
export function registerOAuthEndpoints(app: FastifyInstance, context: Context): void {
  const clients = new ClientCache(context.db);
  app.register(async (scope: FastifyInstance) => {
    registerMetadata(scope, context);
  });

  app.register(async (scope: FastifyInstance) => {
    acceptForms(scope);
    handleOAuthErrors(scope, context);
    registerIntrospection(scope, context, clients);
  });

  app.register(async (scope: FastifyInstance) => {
    acceptForms(scope);
    handleOAuthErrors(scope, context, EVERY_ORIGIN);
    allowEveryOrigin(scope);
    registerToken(scope, context, clients);
    registerRevocation(scope, context, clients);
    for (const url of ['/oauth/token', '/oauth/revoke']) registerPreflight(scope, url);
  });
}

export const OAUTH_PAGES: readonly RouteRegistrar[] = [registerAuthorize];

const EVERY_ORIGIN = { 'access-control-allow-origin': '*' };

/** Applications in a browser fetch their tokens from any origin (code with PKCE): these endpoints ignore cookies. */
function allowEveryOrigin(scope: FastifyInstance): void {
  scope.addHook('onSend', (_request, reply, payload, done) => {
    reply.headers(EVERY_ORIGIN);
    done(null, payload);
  });
}

function registerPreflight(scope: FastifyInstance, url: string): void {
  scope.options(
    url,
    { config: { operation: 'oauth-preflight', access: 'open' }, schema: { hide: true } },
    async (_request, reply) =>
      reply
        .code(204)
        .headers({
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'authorization, content-type',
          'access-control-max-age': String(PREFLIGHT_SECONDS),
        })
        .send(),
  );
}
