import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Database, OperationAborted } from '../db/database.ts';
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

/** Registers the route of an operation. */
export function registerOperation(
  app: FastifyInstance,
  area: Area,
  declared: Operation,
  context: Context,
): void {
  const {
    id,
    number,
    method,
    access,
    withoutBody,
    inputs,
    list,
    multipart,
    params,
    query,
    body,
    totalLimit,
    bodyParameters,
  } = declared;
  const { db } = context;
  const status = Number(Object.keys(declared.responses)[0]);
  const bodyLimit = declared.bodyLimit ?? (body === undefined ? SMALL_BODY_LIMIT : MEDIUM_BODY_LIMIT);
  const ignoredNames = body === undefined ? undefined : createUnknownPropertyLister(body);
  const handler = declared.handler as AnyHandler;
  const rule = declared.idempotency === true ? {} : declared.idempotency;
  const repeats = rule && new IdempotencyHandler(context, rule);
  const versioned = declared.versioned === true;
  const isCompanion = number > LAST_SPECIFIED_OPERATION;
  const addressOf = (path: string) => publicBaseUrl(area, context) + path;
  for (const url of [declared.path, declared.alias]) {
    if (url === undefined) continue;
    app.route({
      method,
      url,
      bodyLimit,
      ...(isCompanion || totalLimit !== undefined || declared.validate !== undefined
        ? {
            validatorCompiler: createValidatorCompiler({
              total: totalLimit as BodyItemLimit<unknown> | undefined,
              nullIsAbsent: isCompanion,
              findRuleErrors: ruleErrorFinder(declared),
              isMultipart: multipart !== undefined,
            }),
          }
        : {}),
      config: {
        operation: id,
        access,
        ...(inputs === undefined ? {} : { inputs }),
        ...(list === undefined ? {} : { list }),
        ...(withoutBody === undefined ? {} : { bodiless: withoutBody }),
        ...(versioned ? { versioned } : {}),
        ...(206 in declared.responses ? { ranged: true } : {}),
        ...(multipart === undefined ? {} : { multipart: true }),
        ...(repeats === undefined ? {} : { repeats: true }),
        ...(declared.mergePatch === true ? { takesMergePatch: true } : {}),
      },
      schema: {
        hide: url !== declared.path,
        operationId: id,
        summary: `${number}. ${declared.summary}`,
        description: declared.description,
        ...(isCompanion ? { 'x-companion': true } : {}),
        ...(params === undefined ? {} : { params }),
        ...(query === undefined ? {} : { querystring: query }),
        ...(body === undefined ? {} : { body }),
        ...(declared.mergePatch === true ? { consumes: [JSON_TYPE, MERGE_PATCH_TYPE] } : {}),
        ...(multipart === undefined ? {} : { consumes: [MULTIPART_TYPE], body: multipart }),
        response: {
          ...describeResponses(declared, ignoredNames !== undefined),
          ...errorResponses(area, errorStatuses(declared), {
            bodiless: withoutBody,
            repeats: repeats !== undefined,
          }),
        },
      },
      ...(repeats === undefined && bodyParameters === undefined
        ? {}
        : {
            preValidation: async (request) => {
              const parameters = request.query as object;
              if (request.body === undefined && bodyParameters?.some((name) => name in parameters) === true)
                request.body = {};
              await repeats?.findStored(request);
            },
          }),
      handler: async (request, reply) => {
        reply.code(status);
        const ignored = ignoredNames?.(request.body as object) ?? '';
        const headers = ignored === '' ? NO_HEADERS : { [IGNORED_HEADER]: ignored };
        if (versioned && takesIfMatch(method)) request.ifMatch = parseIfMatch(request.headers['if-match']);
        request.write =
          repeats === undefined
            ? (((unit, options) =>
                db.write(unit, { ...options, signal: request.abortState })) satisfies Database['write'])
            : repeats.writerFor(request, reply, headers);
        let result: unknown;
        try {
          result = await handler(request, reply);
        } catch (error) {
          // The response was sent at the timeout, or the client has disconnected.
          if (error instanceof OperationAborted) return undefined;
          if (repeats === undefined) throw error;
          result = await repeats.replayAfter(error, request, reply);
        }
        if (
          request.idempotentRequest !== undefined &&
          !(result instanceof OperationResult && result.text !== undefined)
        )
          throw new Error(`${id} has an idempotency key and did not return the result of write().`);
        if (ignored !== '') reply.header(IGNORED_HEADER, ignored);
        return result instanceof OperationResult ? applyResult(request, reply, result, addressOf) : result;
      },
    });
  }
}
