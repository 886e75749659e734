import type {} from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import { operatorCaller } from '../auth/callers.ts';
import type { Context } from '../context.ts';
import { Failure, renameFaults } from '../domain/shared/failure.ts';
import { type AccessDependencies, checkAccess } from './access.ts';
import { type Area, areaAt } from './areas.ts';
import { logFailure } from './failure-log.ts';
import type { DeclareOperation } from './operation.ts';
import { registerOperation } from './operation-routes.ts';
import { Problem, sendProblem, toProblem } from './problems.ts';

/** What a routes file registers on: handlers get the types of their schemas. */
export type TypedInstance = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Registers the routes of a page or two. */
export type RegisterRoutes = (app: TypedInstance, context: Context) => void;

/** Holds every route to its access rule. An unknown path has none: it is refused before anything of it is read. */
export function guardRoutes(app: FastifyInstance, access: AccessDependencies): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) throw unknownPath(request);
    try {
      await checkAccess(request, access);
    } finally {
      if (request.rateHeaders !== null) reply.headers(request.rateHeaders);
    }
  });
}

/**
 * Has every request be the operator's, in place of `guardRoutes`: for an app that is called in its own process alone. One
 * that listens answers nobody.
 */
export function letOperatorIn(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (app.server.listening)
      throw new Error('An app that takes everybody for the operator must not listen.');
    if (request.is404) throw unknownPath(request);
    request.caller = operatorCaller(request.id);
  });
}

/** Adds an area: its error bodies, its 404 and 405, and its operations. */
export function registerArea(
  app: FastifyInstance,
  area: Area,
  operations: readonly DeclareOperation[],
  context: Context,
): void {
  app.register(
    async (scope: FastifyInstance) => {
      answerErrors(scope, area, context);
      const refuse = watchMethods(scope, area);
      // The description has them in the order of their numbers.
      const declared = operations.map((declare) => declare(context)).sort((a, b) => a.number - b.number);
      for (const operation of declared) registerOperation(scope, area, operation, context);
      refuse();
    },
    { prefix: area.prefix },
  );
}

const MAX_PATH_TOLD = 200;

/** Every error below this scope, and every unknown path, is answered in the area's shape. */
export function answerErrors(scope: FastifyInstance, area: Area, { addresses, log }: Context): void {
  scope.setErrorHandler(async (error, request, reply) => {
    const { inputs } = request.routeOptions.config;
    const named = inputs !== undefined && error instanceof Failure ? renameFaults(error, inputs) : error;
    const problem = toProblem(named, area);
    if (problem.status >= 500) logFailure(log, request.id, problem);
    // A clash is nobody's fault, and worth a look when it is frequent.
    if (problem.status === 409)
      log.warn({ requestId: request.id, operation: request.routeOptions.config.operation }, problem.message);
    return sendProblem(reply, request, area, problem, addresses.errorTypeBase);
  });
  // It also says to which area an unknown path belongs.
  scope.setNotFoundHandler(async (request, reply) =>
    sendProblem(reply, request, area, unknownPath(request), addresses.errorTypeBase),
  );
}

function unknownPath(request: FastifyRequest): Problem {
  const path = request.url.split('?', 1)[0]?.slice(0, MAX_PATH_TOLD);
  return new Problem('not-found', `There is nothing at ${path}.`, { source: 'path' });
}

/**
 * Watches which methods the paths of an area get.
 * @returns what to call when all are there: other methods are then answered with 405, for which Fastify has 404
 */
export function watchMethods(scope: FastifyInstance, area: Area): () => void {
  const urls = new Set<string>();
  scope.addHook('onRoute', ({ url }) => {
    if (areaAt(url) === area) urls.add(url);
  });
  return () => {
    // Refusing adds routes too; their paths are the same.
    for (const url of new Set(urls)) {
      const known = scope.supportedMethods.filter((method) => scope.hasRoute({ url, method }));
      refuseOtherMethods(scope, url.slice(area.prefix.length), known);
    }
  };
}

function refuseOtherMethods(scope: FastifyInstance, url: string, known: readonly string[]): void {
  const allow = known.toSorted().join(', ');
  scope.route({
    method: scope.supportedMethods.filter((method) => !known.includes(method)),
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
