import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { METHODS } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type InjectOptions,
  type LightMyRequestResponse,
  type FastifyRequest,
  LogController,
  type RouteOptions,
} from 'fastify';
import { ACCOUNT_ROUTES } from './account/routes.ts';
import { OPERATIONS } from './api/operations.ts';
import { cliChangeContext } from './auth/callers.ts';
import { ExternalIssuer } from './auth/external-issuer.ts';
import type { Config } from './config/config.ts';
import type { Context } from './context.ts';
import { handleErrors, enforceAccess, allowOperator, registerArea } from './http/register-area.ts';
import { areaOfPath, AREAS, SERVER_AREA } from './http/areas.ts';
import { checkHeaderLines, handleMalformedRequests } from './http/malformed-requests.ts';
import { clientAddressReader, setClientAddress } from './http/client-address.ts';
import { limitConnections } from './http/connection-limits.ts';
import { enforceRequestTimeout } from './http/request-timeout.ts';
import { startImports, registerJobs } from './jobs/start-jobs.ts';
import { registerBodyParsers } from './http/json-bodies.ts';
import { registerMetrics } from './http/metrics.ts';
import { allowDocumentation, registerOpenApi } from './http/openapi/openapi.ts';
import { type Problem, sendProblem, toProblem } from './http/problems.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { closeStreamsOnShutdown } from './http/streams.ts';
import { compileSerializer } from './http/serialization.ts';
import { logRequests } from './http/access-log.ts';
import { limitAnonymous } from './http/access.ts';
import { endAccessWithoutFactor } from './domain/sign-in/second-factor-requirement.ts';
import { TokenCache } from './domain/tokens/token-cache.ts';
import { compileValidator } from './http/validation/validation.ts';
import { registerOAuthEndpoints } from './oauth/endpoints.ts';
import { OAUTH_PAGES } from './oauth/endpoints.ts';
import { sendUnknownPage } from './page-kit/not-found-page.tsx';
import { registerStaticFiles } from './page-kit/static-files.ts';
import { registerPages } from './page-kit/pages-plugin.tsx';
import { registerProblemPages } from './page-kit/problem-pages.tsx';

const YEAR_SECONDS = 31_536_000;

/**
 * Default headers of every response: no sniffing, no framing, no referrer, no loading, no caching. Routes override
 * them.
 */
function securityHeaders(config: Pick<Config, 'clientBaseUrl'>): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    // Browsers ignore it over plain HTTP, so it is sent only if users connect by https.
    ...(config.clientBaseUrl?.startsWith('https:') === true
      ? { 'strict-transport-security': `max-age=${YEAR_SECONDS}; includeSubDomains` }
      : {}),
  };
}

/**
 * Creates an app without routes, with the parsers, validators and error handling that all apps share.
 * @param limit counts a request that Fastify rejects before any hook; returns the problem to respond with instead, if
 *   there is one
 */
function createApp(
  context: Context,
  limit: (request: FastifyRequest) => Problem | undefined = () => undefined,
): FastifyInstance {
  const { config, log } = context;
  const headers = securityHeaders(config);
  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: () => randomUUID(),
    // Log entries name their request themselves, so no request needs a child logger.
    childLoggerFactory: (logger) => logger,
    // `enforceRequestTimeout` limits requests instead: an upload may take longer while its bytes arrive.
    requestTimeout: 0,
    http: { headersTimeout: config.requestTimeout },
    // Closes connections whose client neither reads nor writes.
    connectionTimeout: config.requestTimeout + config.uploadTimeout,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // Requests on open connections are still served during shutdown; each connection is closed after its response.
    return503OnClosing: false,
    // The longest request line of Node.js, so that only its schema limits the length of a parameter.
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (error, request, reply) => {
      reply.headers(headers).header('x-request-id', request.id);
      const area = areaOfPath(request.url);
      const problem = limit(request) ?? toProblem(error);
      if (area === SERVER_AREA && sendUnknownPage(request, reply, problem) !== undefined) return;
      void sendProblem(reply, request, area, problem, context.addresses.errorTypeBase);
    },
    // Requests to a proxy have a URL in absolute form (RFC 9112, section 3.2.2).
    rewriteUrl: ({ url = '/' }) => (url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?#]*\/?/i, '/')),
    clientErrorHandler: handleMalformedRequests(headers, context),
  });
  // Accepts every method that Node.js parses, so that known paths return 405 for it.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  registerBodyParsers(app, context);
  app.decorateRequest('caller', null);
  app.decorateRequest('abortState', undefined);
  app.decorateRequest('isLive', async () => true);
  app.decorateRequest('ifMatch', undefined);
  app.decorateRequest('rawBody', '');
  app.decorateRequest('idempotentRequest', undefined);
  app.decorateRequest('write', undefined);
  app.decorateRequest('writeOnce', undefined);
  return app;
}

/** Registers the routes outside the areas: health, readiness and public keys. */
function registerServerRoutes(app: FastifyInstance, { clock, db, keys }: Context): void {
  const hidden = { schema: { hide: true } } as const;

  app.get('/healthz', { config: { operation: 'healthz', access: 'unlimited' }, ...hidden }, async () => ({
    status: 'ok',
  }));

  app.get('/readyz', { config: { operation: 'readyz', access: 'unlimited' }, ...hidden }, async () => {
    await db.check(clock());
    return { status: 'ready' };
  });

  app.get(
    '/.well-known/jwks.json',
    { config: { operation: 'jwks', access: 'open' }, ...hidden },
    async (_request, reply) =>
      reply
        .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
        .send(await keys.jwks()),
  );
}

/**
 * Builds the HTTP app of a context: the configured areas, and the server's own routes.
 * @param onRoute called with every route when it is added
 */
export async function buildApp(
  context: Context,
  onRoute: (route: RouteOptions) => void = () => undefined,
): Promise<FastifyInstance> {
  const { config, db, keys } = context;
  const headers = securityHeaders(config);
  const { externalIssuer } = config;
  const external = externalIssuer && new ExternalIssuer(externalIssuer, () => context.addresses.issuer);
  const tokens = new TokenCache(db, keys, external);
  const access = { tokens, limiter: new RateLimiter(config.rateLimit), context };
  const readAddress = clientAddressReader(config.trustedProxies);
  const app = createApp(context, (request) => {
    request.address = readAddress(request);
    return limitAnonymous(request, access);
  });
  app.decorateRequest('rateHeaders', null);
  app.decorateRequest('session', undefined);
  app.addHook('onRoute', allowDocumentation);
  app.addHook('onRoute', onRoute);
  app.addHook('onRoute', (route) => {
    if (route.config?.access === undefined) throw new Error(`${route.url} has no access rule.`);
  });

  app.addHook('onClose', () => Promise.all([tokens.close(), context.deniedAttempts.close()]));
  registerJobs(app, context);
  // The setting may have changed while the server was stopped.
  if (config.staffSecondFactor !== 'optional')
    app.addHook('onReady', () =>
      db.write((tx) => endAccessWithoutFactor(tx, cliChangeContext(context.clock()), null)),
    );

  setClientAddress(app, readAddress);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id);
    done();
  });
  enforceRequestTimeout(app, config.requestTimeout);
  const connections = limitConnections(app, context);
  closeStreamsOnShutdown(app, connections.closeSilent);
  logRequests(app, context);
  checkHeaderLines(app, (request) => limitAnonymous(request, access));

  enforceAccess(app, access);
  handleErrors(app, SERVER_AREA, context, sendUnknownPage);
  registerMetrics(app, context, tokens, connections);
  await registerOpenApi(app, context);
  registerServerRoutes(app, context);
  registerProblemPages(app, context);
  registerStaticFiles(app);
  registerPages(app, context, [...ACCOUNT_ROUTES, ...OAUTH_PAGES]);
  registerOAuthEndpoints(app, context);
  for (const name of config.areas) registerArea(app, AREAS[name], OPERATIONS, context);
  await app.ready();
  return app;
}

/** Connections that the system accepts ahead of the process. */
const BACKLOG = 2_048;

/**
 * Listens on one address: for each further address of `localhost` Fastify would open a server without connection
 * limits and without a graceful shutdown.
 * @param host an address, or a name, which resolves to its first address
 * @param port 0 for any free port
 * @returns the port
 * @throws the system's error if the name is unknown or the address is not available
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: Pick<Config, 'host' | 'port'>,
): Promise<number> {
  const { address } = await lookup(host);
  await app.listen({ host: address, port, backlog: BACKLOG });
  return (app.server.address() as AddressInfo).port;
}

/** The operations of all areas, for commands that work on the data directory. */
export interface InProcessOperations {
  /** Runs a request as the operator, who can access everything. Skips authentication and rate limits. */
  request(options: InjectOptions): Promise<LightMyRequestResponse>;
  /** Runs all queued imports until it is closed, because there may be no running server that does. */
  startImports(): { close(): Promise<void> };
  close(): Promise<void>;
}

/**
 * Builds the operations for calls within this process. Anyone who can open the data directory can do anything with it,
 * so there is no authentication. Does not return the app, so that it cannot listen.
 */
export async function openOperations(context: Context): Promise<InProcessOperations> {
  const app = createApp(context);
  app.decorateRequest('address', '');
  allowOperator(app);
  handleErrors(app, SERVER_AREA, context);
  for (const area of Object.values(AREAS)) registerArea(app, area, OPERATIONS, context);
  await app.ready();
  return {
    request: (options) => app.inject(options),
    startImports: () => startImports(context),
    close: () => app.close(),
  };
}
