import type {} from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import { operatorCaller } from '../auth/callers.ts';
import type { Context } from '../runtime/context.ts';
import { DomainError, renameFields } from '../domain/shared/errors.ts';
import { type AccessDependencies, authorizeRequest } from './access.ts';
import type { Area } from './areas.ts';
import { logServerError } from './error-log.ts';
import type { OperationFactory } from './operation.ts';
import { rejectUnknownPaths } from './unknown-paths.ts';
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
export type RouteRegistrar = (app: TypedInstance, context: Context) => void;

/** Holds every route to its access rule. An unknown path has none: it is refused before anything of it is read. */
export function enforceAccess(app: FastifyInstance, access: AccessDependencies): void {
  const refuse = rejectUnknownPaths(app);
  app.addHook('onRequest', async (request, reply) => {
    if ((await refuse(request, reply)) !== undefined) return reply;
    try {
      await authorizeRequest(request, access);
    } finally {
      if (request.rateHeaders !== null) reply.headers(request.rateHeaders);
    }
    return undefined;
  });
}

/**
 * Has every request be the operator's, in place of `guardRoutes`: for an app that is called in its own process alone. One
 * that listens answers nobody.
 */
export function allowOperator(app: FastifyInstance): void {
  const refuse = rejectUnknownPaths(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (app.server.listening)
      throw new Error('An app that takes everybody for the operator must not listen.');
    if ((await refuse(request, reply)) !== undefined) return reply;
    request.caller = operatorCaller(request.id);
    return undefined;
  });
}

/** Adds an area: its error bodies and its operations. */
export function registerArea(
  app: FastifyInstance,
  area: Area,
  operations: readonly OperationFactory[],
  context: Context,
): void {
  app.register(
    async (scope: FastifyInstance) => {
      handleErrors(scope, area, context);
      // The description has them in the order of their numbers.
      const declared = operations.map((declare) => declare(context)).sort((a, b) => a.number - b.number);
      for (const operation of declared) registerOperation(scope, area, operation, context);
    },
    { prefix: area.prefix },
  );
}

/** Every error below this scope, and every unknown path, is answered in the area's shape. */
export function handleErrors(scope: FastifyInstance, area: Area, { addresses, log }: Context): void {
  scope.setErrorHandler(async (error, request, reply) => {
    const { inputs } = request.routeOptions.config;
    const named = inputs !== undefined && error instanceof DomainError ? renameFields(error, inputs) : error;
    const problem = toProblem(named, area);
    if (problem.status >= 500) logServerError(log, request.id, problem);
    // A clash is nobody's fault, and worth a look when it is frequent.
    if (problem.status === 409)
      log.warn({ requestId: request.id, operation: request.routeOptions.config.operation }, problem.message);
    return sendProblem(reply, request, area, problem, addresses.errorTypeBase);
  });
  // It says to which area an unknown path belongs; whoever asks for one was refused before.
  scope.setNotFoundHandler(() => {
    throw new Problem('not-found', 'There is nothing here.', { source: 'path' });
  });
}
