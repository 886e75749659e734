import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  preValidationAsyncHookHandler,
  RouteOptions,
} from 'fastify';
import { OperationAborted } from '../db/database.ts';
import { renameFieldErrors } from '../domain/shared/errors.ts';
import type { Context } from '../context.ts';
import { type Area, publicBaseUrl } from './areas.ts';
import type { BodyItemLimit } from './validation/array-limits.ts';
import { describeResponses, errorStatuses, MULTIPART_TYPE } from './response-schemas.ts';
import { IGNORED_HEADER, createUnknownPropertyLister } from './validation/unknown-properties.ts';
import { MEDIUM_BODY_LIMIT, MERGE_PATCH_TYPE, SMALL_BODY_LIMIT } from './json-bodies.ts';
import { takesIfMatch, type Operation } from './operation.ts';
import { IdempotencyHandler } from './idempotency.ts';
import { errorResponses } from './schemas.ts';
import { JSON_TYPE, applyResult, OperationResult } from './operation-result.ts';
import { type BodyOptions, createValidatorCompiler } from './validation/validation.ts';
import { parseIfMatch } from './etags.ts';
import { compressBody, isCompressible } from './compression.ts';

/** Operations above are companions: extensions of the specification. */
const LAST_SPECIFIED_OPERATION = 14;

/** A handler without the types that its declaration checked. */
type AnyHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Returns the rules of the operation with errors by the names of its body. */
function ruleErrorFinder({ validate, inputs = {} }: Operation): BodyOptions['findRuleErrors'] {
  // The validator compiled from the schema of the body tested its types.
  return validate && ((body) => renameFieldErrors(validate(body as never), inputs));
}

export function registerOperation(
  app: FastifyInstance,
  area: Area,
  declared: Operation,
  context: Context,
): void {
  const { method, path, alias, body } = declared;
  const options = declared.idempotency === true ? {} : declared.idempotency;
  const idempotency = options && new IdempotencyHandler(context, options);
  const ignoredNames = body === undefined ? undefined : createUnknownPropertyLister(body);
  const handler = createHandler(area, declared, context, { idempotency, ignoredNames });
  for (const url of alias === undefined ? [path] : [path, alias])
    app.route({
      method,
      url,
      bodyLimit: declared.bodyLimit ?? (body === undefined ? SMALL_BODY_LIMIT : MEDIUM_BODY_LIMIT),
      ...bodyValidation(declared),
      config: routeConfig(declared),
      schema: { hide: url !== path, ...routeSchema(area, declared, ignoredNames !== undefined) },
      ...preValidation(declared, idempotency),
      handler,
    });
}

const isCompanion = ({ number }: Operation) => number > LAST_SPECIFIED_OPERATION;

function bodyValidation(declared: Operation): Pick<RouteOptions, 'validatorCompiler'> {
  const { totalLimit, validate, multipart } = declared;
  if (!isCompanion(declared) && totalLimit === undefined && validate === undefined) return {};
  return {
    validatorCompiler: createValidatorCompiler({
      total: totalLimit as BodyItemLimit<unknown> | undefined,
      nullIsAbsent: isCompanion(declared),
      findRuleErrors: ruleErrorFinder(declared),
      isMultipart: multipart !== undefined,
    }),
  };
}

function routeConfig(declared: Operation): FastifyContextConfig {
  const { id, access, inputs, list, emptyErrorStatuses, versioned, responses, multipart } = declared;
  return {
    operation: id,
    access,
    ...(inputs === undefined ? {} : { inputs }),
    ...(list === undefined ? {} : { list }),
    ...(emptyErrorStatuses === undefined ? {} : { emptyErrorStatuses }),
    ...(versioned === undefined ? {} : { versioned }),
    ...(206 in responses ? { ranged: true } : {}),
    ...(multipart === undefined ? {} : { multipart: true }),
    ...(declared.idempotency === undefined ? {} : { idempotent: true }),
    ...(declared.mergePatch === true ? { takesMergePatch: true } : {}),
  };
}

/**
 * The schemas by which requests are validated, and the operation's part of the API description.
 * @param mayIgnore whether unknown properties of the body are ignored
 */
function routeSchema(area: Area, declared: Operation, mayIgnore: boolean): FastifySchema {
  const { id, number, summary, description, params, query, body, multipart, emptyErrorStatuses } = declared;
  return {
    operationId: id,
    summary: `${number}. ${summary}`,
    description,
    ...(isCompanion(declared) ? { 'x-companion': true } : {}),
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(body === undefined ? {} : { body }),
    ...(declared.mergePatch === true ? { consumes: [JSON_TYPE, MERGE_PATCH_TYPE] } : {}),
    ...(multipart === undefined ? {} : { consumes: [MULTIPART_TYPE], body: multipart }),
    response: {
      ...describeResponses(declared, mayIgnore),
      ...errorResponses(area, errorStatuses(declared), {
        emptyErrorStatuses,
        idempotent: declared.idempotency !== undefined,
      }),
    },
  };
}

function preValidation(
  { bodyParameters = [] }: Operation,
  idempotency: IdempotencyHandler | undefined,
): { preValidation?: preValidationAsyncHookHandler } {
  if (idempotency === undefined && bodyParameters.length === 0) return {};
  return {
    preValidation: async (request) => {
      const parameters = request.query as object;
      if (request.body === undefined && bodyParameters.some((name) => name in parameters)) request.body = {};
      await idempotency?.findStored(request);
    },
  };
}

/** Calls the handler of the operation with what `OperationRequest` promises, and sends its result. */
function createHandler(
  area: Area,
  declared: Operation,
  context: Context,
  {
    idempotency,
    ignoredNames,
  }: {
    idempotency: IdempotencyHandler | undefined;
    ignoredNames: ReturnType<typeof createUnknownPropertyLister> | undefined;
  },
): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  const { db } = context;
  const handler = declared.handler as AnyHandler;
  const status = Number(Object.keys(declared.responses)[0]);
  const readsIfMatch = declared.versioned === true && takesIfMatch(declared.method);
  const compresses = isCompressible(declared);
  const addressOf = (path: string) => publicBaseUrl(area, context) + path;
  return async (request, reply) => {
    reply.code(status);
    const ignored = ignoredNames?.(request.body as object) ?? '';
    const headers = ignored === '' ? NO_HEADERS : { [IGNORED_HEADER]: ignored };
    if (readsIfMatch) request.ifMatch = parseIfMatch(request.headers['if-match']);
    if (idempotency === undefined)
      request.write = (transaction, options) =>
        db.write(transaction, { ...options, signal: request.abortState });
    else request.writeOnce = idempotency.writerFor(request, reply, headers);
    let result: unknown;
    try {
      result = await handler(request, reply);
    } catch (error) {
      // The response was sent at the timeout, or the client has disconnected.
      if (error instanceof OperationAborted) return undefined;
      if (idempotency === undefined) throw error;
      result = await idempotency.replayAfter(error, request, reply);
    }
    if (
      request.idempotentRequest !== undefined &&
      !(result instanceof OperationResult && result.text !== undefined)
    )
      throw new Error(`${declared.id} has an idempotency key and did not return the result of writeOnce().`);
    if (ignored !== '') reply.header(IGNORED_HEADER, ignored);
    const body = result instanceof OperationResult ? applyResult(request, reply, result, addressOf) : result;
    return compresses ? compressBody(request, reply, body) : body;
  };
}
