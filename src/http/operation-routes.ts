import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../runtime/context.ts';
import { type Area, publicAddress } from './areas.ts';
import type { TotalLimit } from './validation/array-limits.ts';
import { describeAnswers, errorStatuses, MULTIPART } from './response-schemas.ts';
import { IGNORED_HEADER, listIgnored } from './validation/unknown-properties.ts';
import { MEDIUM_BODY, MERGE_PATCH_TYPE, SMALL_BODY } from './json-bodies.ts';
import { isConditional, type Operation } from './operation.ts';
import { Repeats } from './idempotency.ts';
import { errorResponses } from './schemas.ts';
import { JSON_TYPE, prepareAnswer, SentAnswer } from './operation-result.ts';
import { compileValidatorWith } from './validation/validation.ts';
import { readExpected } from './etags.ts';

/** The operations of the specification end here; those after it are companions of ours. */
const LAST_SPECIFIED = 14;

/** A handler as it is called: the types of its request were checked where it was declared. */
type AnyHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Adds an operation to its area. */
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
    bodiless,
    inputs,
    list,
    multipart,
    params,
    query,
    body,
    total,
    bodyParameters,
  } = declared;
  const status = Number(Object.keys(declared.answers)[0]);
  const bodyLimit = declared.bodyLimit ?? (body === undefined ? SMALL_BODY : MEDIUM_BODY);
  const ignoredNames = body === undefined ? undefined : listIgnored(body);
  const handler = declared.handler as AnyHandler;
  const rule = declared.repeats === true ? {} : declared.repeats;
  const repeats = rule && new Repeats(context, rule);
  const versioned = declared.versioned === true;
  const isCompanion = number > LAST_SPECIFIED;
  const addressOf = (path: string) => publicAddress(area, context) + path;
  for (const url of [declared.path, declared.alsoAt]) {
    if (url === undefined) continue;
    app.route({
      method,
      url,
      bodyLimit,
      ...(isCompanion || total !== undefined
        ? {
            validatorCompiler: compileValidatorWith({
              total: total as TotalLimit<unknown> | undefined,
              nullIsAbsent: isCompanion,
              isMultipart: multipart !== undefined,
            }),
          }
        : {}),
      config: {
        operation: id,
        access,
        ...(inputs === undefined ? {} : { inputs }),
        ...(list === undefined ? {} : { list }),
        ...(bodiless === undefined ? {} : { bodiless }),
        ...(versioned ? { versioned } : {}),
        ...(206 in declared.answers ? { ranged: true } : {}),
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
        ...(multipart === undefined ? {} : { consumes: [MULTIPART], body: multipart }),
        response: {
          ...describeAnswers(declared, ignoredNames !== undefined),
          ...errorResponses(area, errorStatuses(declared), { bodiless, repeats: repeats !== undefined }),
        },
      },
      ...(repeats === undefined && bodyParameters === undefined
        ? {}
        : {
            preValidation: async (request, reply) => {
              const given = request.query as object;
              if (request.body === undefined && bodyParameters?.some((name) => name in given) === true)
                request.body = {};
              const answered = await repeats?.find(request, reply);
              return answered && reply.send(prepareAnswer(request, reply, answered, addressOf));
            },
          }),
      handler: async (request, reply) => {
        reply.code(status);
        const ignored = ignoredNames?.(request.body as object) ?? '';
        const headers = ignored === '' ? NO_HEADERS : { [IGNORED_HEADER]: ignored };
        if (versioned && isConditional(method)) request.expected = readExpected(request.headers['if-match']);
        if (repeats !== undefined) request.change = repeats.changeOf(request, reply, headers);
        const answer = await handler(request, reply);
        if (request.repeat !== undefined && !(answer instanceof SentAnswer && answer.text !== undefined))
          throw new Error(`${id} answers beside what it keeps.`);
        if (ignored !== '') reply.header(IGNORED_HEADER, ignored);
        return answer instanceof SentAnswer ? prepareAnswer(request, reply, answer, addressOf) : answer;
      },
    });
  }
}
