import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type InjectOptions,
  type LightMyRequestResponse,
  LogController,
  type RouteOptions,
} from 'fastify';
import { ACCOUNT_ROUTES } from './account/routes.ts';
import { OPERATIONS } from './api/operations.ts';
import { ExternalIssuer } from './auth/external-issuer.ts';
import type { AreaName } from './config/config.ts';
import type { Context } from './runtime/context.ts';
import { handleErrors, enforceAccess, allowOperator, registerArea } from './http/register-area.ts';
import { areaOfPath, AREAS, SERVER_AREA } from './http/areas.ts';
import { handleMalformedRequest } from './http/malformed-requests.ts';
import { setClientAddress } from './http/client-address.ts';
import { enforceRequestTimeout } from './http/request-timeout.ts';
import { startImports, registerJobs } from './jobs/start-jobs.ts';
import { registerBodyParsers } from './http/json-bodies.ts';
import { registerMetrics } from './http/metrics.ts';
import { allowDocumentation, registerOpenApi } from './http/openapi/openapi.ts';
import { sendProblem, toProblem } from './http/problems.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { closeStreamsOnShutdown } from './http/streams.ts';
import { compileSerializer } from './http/serialization.ts';
import { registerServerRoutes } from './http/server-routes.ts';
import { securityHeaders } from './http/security-headers.ts';
import { TokenCache } from './domain/tokens/token-cache.ts';
import { compileValidator } from './http/validation/validation.ts';
import { registerOAuthEndpoints } from './oauth/endpoints.ts';
import { OAUTH_PAGES } from './oauth/endpoints.ts';
import { registerAssets } from './pages/assets.ts';
import { registerPages } from './pages/pages-plugin.tsx';

/** An app without routes, which reads requests and refuses bad ones as all of ours do. */
function createApp(context: Context): FastifyInstance {
  const { config, log } = context;
  const headers = securityHeaders(config);
  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: () => randomUUID(),
    // Every line of ours names its request itself, so no request needs a logger of its own.
    childLoggerFactory: (logger) => logger,
    // An upload may take longer, as long as its bytes come: see `enforceDeadline`.
    requestTimeout: 0,
    http: { headersTimeout: config.requestTimeout },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // What arrives on an open connection while the server closes is still answered, and the connection then closed.
    return503OnClosing: false,
    // Node takes no request line that is longer, so whether a parameter is too long is its schema's to say.
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (error, request, reply) => {
      reply.headers(headers).header('x-request-id', request.id);
      void sendProblem(
        reply,
        request,
        areaOfPath(request.url),
        toProblem(error),
        context.addresses.errorTypeBase,
      );
    },
    // A request to a proxy names the whole address (RFC 9112, section 3.2.2).
    rewriteUrl: ({ url = '/' }) => (url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?#]*\/?/i, '/')),
    clientErrorHandler: (error, socket) => handleMalformedRequest(error, socket, headers, context),
  });
  // Whatever Node can read is a method, and so answered with 405 where the path has others.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  registerBodyParsers(app, config.bodyLimit);
  app.decorateRequest('caller', null);
  app.decorateRequest('abortState', undefined);
  app.decorateRequest('ifMatch', undefined);
  app.decorateRequest('rawBody', '');
  app.decorateRequest('idempotentRequest', undefined);
  app.decorateRequest('write', undefined);
  return app;
}

/**
 * Builds the HTTP app of a context: the areas that its configuration names, and the server's own routes.
 * @param onRoute sees every route as it is added
 */
export async function buildApp(
  context: Context,
  onRoute: (route: RouteOptions) => void = () => undefined,
): Promise<FastifyInstance> {
  const { config, db, keys, log } = context;
  const headers = securityHeaders(config);
  const app = createApp(context);
  app.decorateRequest('rateHeaders', null);
  app.decorateRequest('isLive', async () => true);
  app.decorateRequest('session', undefined);
  app.addHook('onRoute', allowDocumentation);
  app.addHook('onRoute', onRoute);
  app.addHook('onRoute', (route) => {
    if (route.config?.access === undefined) throw new Error(`${route.url} does not say who may call it.`);
  });

  const { externalIssuer } = config;
  const external = externalIssuer && new ExternalIssuer(externalIssuer, () => context.addresses.issuer);
  const tokens = new TokenCache(db, keys, external);
  app.addHook('onClose', () => Promise.all([tokens.close(), context.deniedAttempts.close()]));
  registerJobs(app, context);

  setClientAddress(app, config.trustedProxies);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id);
    done();
  });
  enforceRequestTimeout(app, config.requestTimeout);
  closeStreamsOnShutdown(app);
  app.addHook('onResponse', async (request, reply) => {
    log.info(
      {
        requestId: request.id,
        operation: request.routeOptions.config?.operation,
        method: request.method,
        path: request.url.split('?', 1)[0],
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 100) / 100,
        address: request.address,
        user: request.caller?.uid ?? request.session?.uid,
      },
      'request',
    );
  });

  enforceAccess(app, { tokens, limiter: new RateLimiter(config.rateLimit), context });
  handleErrors(app, SERVER_AREA, context);
  registerMetrics(app, context, tokens);
  await registerOpenApi(app, context);
  registerServerRoutes(app, context);
  registerAssets(app);
  registerPages(app, context, [...ACCOUNT_ROUTES, ...OAUTH_PAGES]);
  registerOAuthEndpoints(app, context);
  for (const name of config.areas) registerArea(app, AREAS[name], OPERATIONS[name], context);
  await app.ready();
  return app;
}

/** The operations of every area, as a command calls them that works on the data folder itself. */
export interface InProcessOperations {
  /** Answers a request as a server would, to a caller who reaches everything; no token is looked at and no limit kept. */
  request(options: InjectOptions): Promise<LightMyRequestResponse>;
  /** Does imports that wait, those of others too, until it is closed: there may be no server that does. */
  startImports(): { close(): Promise<void> };
  close(): Promise<void>;
}

/**
 * Builds the operations for the process that calls them: whoever can open the data folder can do anything with it. The app
 * itself is not given away, so that it never listens.
 */
export async function openOperations(context: Context): Promise<InProcessOperations> {
  const app = createApp(context);
  app.decorateRequest('address', '');
  allowOperator(app);
  handleErrors(app, SERVER_AREA, context);
  for (const area of Object.values(AREAS))
    registerArea(app, area, OPERATIONS[area.name as AreaName], context);
  await app.ready();
  return {
    request: (options) => app.inject(options),
    startImports: () => startImports(context),
    close: () => app.close(),
  };
}
