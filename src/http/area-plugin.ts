import type {} from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Context } from '../context.ts';
import { type AccessDependencies, checkAccess } from './access.ts';
import type { Area } from './areas.ts';
import { Problem, sendProblem, toProblem } from './problems.ts';

/** What a routes file registers on: handlers get the types of their schemas. */
export type TypedInstance = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Registers the operations of an area; paths begin after the area's prefix. */
export type RegisterRoutes = (app: TypedInstance, context: Context) => void;

/** Adds an area: its access rule, its error bodies, its 404 and 405, and its operations. */
export function registerArea(
  app: FastifyInstance,
  area: Area,
  registerRoutes: RegisterRoutes,
  context: Context,
  access: AccessDependencies,
): void {
  app.register(
    async (scope: FastifyInstance) => {
      scope.addHook('onRequest', async (request, reply) => {
        if (request.is404) return;
        try {
          await checkAccess(request, access);
        } finally {
          if (request.rateHeaders !== null) reply.headers(request.rateHeaders);
        }
      });
      answerErrors(scope, area, context);
      const methods = new Map<string, Set<string>>();
      scope.addHook('onRoute', (route) => {
        const known = methods.get(route.url) ?? new Set();
        for (const method of [route.method].flat()) known.add(method);
        methods.set(route.url, known);
      });
      registerRoutes(scope.withTypeProvider<TypeBoxTypeProvider>(), context);
      for (const [url, known] of [...methods])
        refuseOtherMethods(scope, url.slice(area.prefix.length), known);
    },
    { prefix: area.prefix },
  );
}

/** Every error below this scope, and every unknown path, is answered in the area's shape. */
export function answerErrors(scope: FastifyInstance, area: Area, { addresses, log }: Context): void {
  scope.setErrorHandler(async (error, request, reply) => {
    const problem = toProblem(error);
    if (problem.status >= 500)
      log.error({ requestId: request.id, err: problem.cause ?? problem }, problem.message);
    // A clash is nobody's fault, and worth a look when it is frequent.
    if (problem.status === 409)
      log.warn({ requestId: request.id, operation: request.routeOptions.config.operation }, problem.message);
    return sendProblem(reply, request, area, problem, addresses.errorTypeBase);
  });
  scope.setNotFoundHandler(async (request, reply) => {
    const problem = new Problem('not-found', `There is nothing at ${request.url.split('?', 1)[0]}.`, {
      source: 'path',
    });
    return sendProblem(reply, request, area, problem, addresses.errorTypeBase);
  });
}

/** Known path, unknown method: 405, which Fastify would answer with 404. */
function refuseOtherMethods(scope: FastifyInstance, url: string, known: ReadonlySet<string>): void {
  const allow = [...known].sort().join(', ');
  scope.route({
    method: scope.supportedMethods.filter((method) => !known.has(method)),
    url,
    config: { operation: 'method-not-allowed', access: 'unlimited' },
    schema: { hide: true },
    onRequest: async (request) => {
      throw new Problem('method-not-allowed', `${request.method} is not allowed here. Allowed: ${allow}.`, {
        source: 'method',
        headers: { allow },
      });
    },
    handler: async () => undefined,
  });
}
