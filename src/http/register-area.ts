import type {} from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import { operatorCaller } from '../auth/callers.ts';
import { OperationAborted } from '../db/database.ts';
import type { Context } from '../context.ts';
import { DomainError, renameFields } from '../domain/shared/errors.ts';
import { type AccessDependencies, authorizeRequest, limitAnonymous } from './access.ts';
import type { Area } from './areas.ts';
import { logServerError } from './error-log.ts';
import type { AreaOperations } from './operation.ts';
import { rejectUnknownPaths } from './unknown-paths.ts';
import { registerOperation } from './operation-routes.ts';
import { Problem, sendProblem, toProblem } from './problems.ts';

/** Routes registered on it infer their types from their schemas. */
export type TypedInstance = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

export type RouteRegistrar = (app: TypedInstance, context: Context) => void;

/** Enforces the access rule of each route. Rejects unknown paths before reading anything else of the request. */
export function enforceAccess(app: FastifyInstance, access: AccessDependencies): void {
  const rejectUnknown = rejectUnknownPaths(app, (request, reply) => {
    const problem = limitAnonymous(request, access);
    reply.headers(request.rateHeaders ?? {});
    return problem;
  });
  app.addHook('onRequest', async (request, reply) => {
    if ((await rejectUnknown(request, reply)) !== undefined) return reply;
    try {
      await authorizeRequest(request, access);
    } finally {
      if (request.rateHeaders !== null) reply.headers(request.rateHeaders);
    }
    return undefined;
  });
}

/**
 * Makes every caller the operator, in place of `enforceAccess`. Only for an app that is called in-process: it throws
 * if the app listens.
 */
export function allowOperator(app: FastifyInstance): void {
  const rejectUnknown = rejectUnknownPaths(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (app.server.listening)
      throw new Error('An app that treats every caller as the operator must not listen.');
    if ((await rejectUnknown(request, reply)) !== undefined) return reply;
    request.caller = operatorCaller(request.id);
    return undefined;
  });
}

/**
 * Registers the error format and the operations of an area.
 * @param all the operations of all areas
 */
export function registerArea(
  app: FastifyInstance,
  area: Area,
  all: readonly AreaOperations[],
  context: Context,
): void {
  app.register(
    async (scope: FastifyInstance) => {
      handleErrors(scope, area, context);
      // The API description lists operations by number.
      const operations = all
        .flatMap((file) => (file.area === area.name ? file.operations : []))
        .map((declare) => declare(context))
        .sort((a, b) => a.number - b.number);
      for (const operation of operations) registerOperation(scope, area, operation, context);
    },
    { prefix: area.prefix },
  );
}

/**
 * Sends every error below this scope, unknown paths included, in the format of the area.
 * @param sendUnknown responds to a request that has reached no route; returns undefined to leave that to the area
 */
export function handleErrors(
  scope: FastifyInstance,
  area: Area,
  { addresses, log }: Context,
  sendUnknown: (
    request: FastifyRequest,
    reply: FastifyReply,
    problem: Problem,
  ) => FastifyReply | undefined = () => undefined,
): void {
  scope.setErrorHandler(async (error, request, reply) => {
    // The response was sent at the timeout, or the client has disconnected.
    if (error instanceof OperationAborted && reply.sent) return reply;
    const { inputs } = request.routeOptions.config;
    const renamed =
      inputs !== undefined && error instanceof DomainError ? renameFields(error, inputs) : error;
    const problem = toProblem(renamed, area);
    if (problem.status >= 500 && !(error instanceof OperationAborted))
      logServerError(log, request.id, problem);
    // Conflicts are expected, but worth a look when frequent.
    if (problem.status === 409)
      log.warn({ requestId: request.id, operation: request.routeOptions.config.operation }, problem.message);
    return (
      (request.is404 ? sendUnknown(request, reply, problem) : undefined) ??
      sendProblem(reply, request, area, problem, addresses.errorTypeBase)
    );
  });
  // Marks the area of unknown paths; `enforceAccess` rejects them earlier.
  scope.setNotFoundHandler(() => {
    throw new Problem('not-found', 'Nothing exists at this path.', { source: 'path' });
  });
}
