import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Caller } from '../auth/callers.ts';
import type { Context } from '../context.ts';
import type { Expected } from '../domain/shared/versions.ts';
import type { Access } from './access.ts';
import { type Area, publicAddress } from './areas.ts';
import { IGNORED_HEADER, IgnoredHeader, listIgnored } from './ignored-properties.ts';
import { MEDIUM_BODY, MERGE_PATCH_TYPE, SMALL_BODY } from './json-bodies.ts';
import { type Change, REPLAYED_HEADER, ReplayedHeader, type RepeatRule, Repeats } from './repeats.ts';
import { errorResponses } from './schemas.ts';
import type { TotalLimit } from './batches.ts';
import { JSON_TYPE, prepareAnswer, SentAnswer } from './sent-answers.ts';
import { compileValidatorWith } from './validation.ts';
import { ETagHeader, readExpected } from './versions.ts';

/** What an operation sends when it succeeds. */
export interface Answer {
  description: string;
  /** Of the body; absent where there is none. */
  schema?: TSchema;
  /** That it is a file, and no JSON. */
  binary?: true;
  /** That it is text of this type, which comes as there is something to tell. */
  stream?: { type: string; example: string };
  /** Headers of this answer alone, by name; the server adds those that every answer has. */
  headers?: Readonly<Record<string, object>>;
  /** Media types that it can be had as beside JSON. */
  otherTypes?: readonly string[];
}

type Answers = Readonly<Record<number, Answer>>;

type BodyOf<A extends Answers> = {
  [Status in keyof A]: A[Status] extends { schema: infer S extends TSchema } ? Static<S> : void;
}[keyof A];

type Parsed<S> = S extends TSchema ? Static<S> : undefined;

/** A request that has been let in and validated. */
export type OperationRequest<P, Q, B, A extends Answers, R> = Pick<
  FastifyRequest,
  'headers' | 'id' | 'isLive' | 'method' | 'raw' | 'url'
> & {
  readonly caller: Caller;
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
  /** What `If-Match` wants to find, for the rule to compare; `undefined` without it. */
  readonly expected: Expected | undefined;
} & (R extends undefined ? unknown : { readonly change: Change<BodyOf<A>> });

/** The credentials and scopes of an operation; the pages have other rules. */
export type OperationAccess = Extract<Access, object>;

/** What a list may be narrowed and sorted by, by the names in its query. */
export interface ListParameters {
  parameters: readonly string[];
  sorts: readonly string[];
}

interface Declaration<P, Q, B, A extends Answers, R> {
  /** The name in the description, in metrics and in log lines. */
  id: string;
  /** As the specification counts. */
  number: number;
  summary: string;
  description: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the prefix of the area. */
  path: string;
  /** The same path as the router has to be told it besides; it is not described. */
  alsoAt?: string;
  access: OperationAccess;
  params?: P;
  query?: Q;
  body?: B;
  /** Whether the body is a merge patch, and may be called so (RFC 7396). */
  mergePatch?: true;
  /** Parameters of the query that say what the body may: with one of them, the body may be missing. */
  bodyParameters?: readonly string[];
  /** In place of a body: that it is `multipart/form-data` of this form, which the handler reads by `readParts`. */
  multipart?: TSchema;
  /** How the body calls the inputs of the rule, where it has another name for them: faults are told by these. */
  inputs?: Readonly<Record<string, string>>;
  /** What a body may name in all; more is a 413 before it is looked at any closer. */
  total?: TotalLimit<Parsed<B>>;
  /** In bytes; absent, `MEDIUM_BODY`, and `SMALL_BODY` for an operation that reads no body. */
  bodyLimit?: number;
  /** By status. The first is the one that is sent unless the handler sets another. */
  answers: A;
  /** Of a list: the parameters of its filters and its orders, which a test walks. */
  list?: ListParameters;
  /** Error statuses that come without a body. */
  bodiless?: readonly number[];
  /** Error statuses that follow from nothing else that is said here. */
  refusals?: readonly number[];
  /**
   * That it is about one thing which has a version: its answers are made with `versioned`, and what changes the thing
   * gives `expected` to the rule.
   */
  versioned?: true;
  /** That `Idempotency-Key` is looked at: the handler changes through `change`. */
  repeats?: R;
  /** @returns the body of the answer, or what `versioned`, `withHeaders` or `change` made of it */
  handler(
    request: OperationRequest<P, Q, B, A, R>,
    reply: FastifyReply,
  ): Promise<BodyOf<A> | SentAnswer<BodyOf<A>>>;
}

type Schema = TSchema | undefined;

/** An operation that an area can register; what its handler takes and gives was checked where it was declared. */
export type Operation = Declaration<Schema, Schema, Schema, Answers, true | RepeatRule | undefined>;

/** Declares an operation for a process: schemas and limits may follow its configuration. */
export type DeclareOperation = (context: Context) => Operation;

/**
 * Declares an operation. Its name, its success and the errors that follow from its method, its input and who may call
 * it stand here once; validation, the description and metrics read them from it.
 */
export function operation<
  const A extends Answers,
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  const R extends true | RepeatRule | undefined = undefined,
>(declared: Declaration<P, Q, B, A, R>): Operation {
  return declared as Operation;
}

/** The operations of the specification end here; those after it are companions of ours. */
const LAST_SPECIFIED = 14;

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

/** A row of a list as each type has it. */
const DOWNLOADS: Readonly<Record<string, readonly string[]>> = {
  'text/csv': ['id,name\r\n1,First\r\n'],
  'application/x-ndjson': ['{"id":1,"name":"First"}\n'],
};

const MULTIPART = 'multipart/form-data';
/** The largest that may be configured. */
const MAX_FILE = 1024 ** 3;
const BINARY_TYPE = 'application/octet-stream';
const NO_HEADERS: Readonly<Record<string, string>> = {};

/** A handler as it is called: the types of its request were checked where it was declared. */
type AnyHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** The errors that this operation can answer beside those that every operation can. */
function errorStatuses(declared: Operation): number[] {
  const { method, access, params, query, body, multipart, refusals = [], versioned, repeats } = declared;
  const takesInput = params !== undefined || query !== undefined || body !== undefined;
  return [
    // Several schemes at once are malformed as well.
    ...(takesInput || access.schemes === 'all' || repeats !== undefined ? [400] : []),
    // A change may clash with another one, and a body that nobody reads is looked at all the same.
    ...(method === 'GET' ? [] : [409, 413, 415]),
    ...(versioned === true && isConditional(method) ? [412] : []),
    ...(body === undefined && multipart === undefined && repeats === undefined ? [] : [422]),
    ...refusals,
  ];
}

/** Whether the method changes one thing that is there, which `If-Match` may tell of. */
function isConditional(method: Operation['method']): boolean {
  return method !== 'GET' && method !== 'POST';
}

function describeAnswers(
  { method, answers, versioned, repeats }: Operation,
  mayIgnore: boolean,
): Record<string, object> {
  const headersOf = ({ headers, schema }: Answer) => ({
    ...headers,
    ...(versioned === true && schema !== undefined ? { ETag: ETagHeader } : {}),
    ...(repeats === undefined ? {} : { [REPLAYED_HEADER]: ReplayedHeader }),
    ...(mayIgnore ? { [IGNORED_HEADER]: IgnoredHeader } : {}),
  });
  return Object.fromEntries([
    ...Object.entries(answers).map(([status, answer]) => [
      status,
      {
        description: answer.description,
        headers: headersOf(answer),
        ...(answer.binary === true
          ? {
              content: {
                [BINARY_TYPE]: {
                  schema: {
                    type: 'string',
                    format: 'binary',
                    maxLength: MAX_FILE,
                    examples: ['GET /search?q=%27 HTTP/1.1'],
                  },
                },
              },
            }
          : answer.stream !== undefined
            ? {
                content: {
                  [answer.stream.type]: {
                    schema: { type: 'string', maxLength: MAX_FILE, examples: [answer.stream.example] },
                  },
                },
              }
            : answer.schema === undefined
              ? { type: 'null' }
              : {
                  content: {
                    [JSON_TYPE]: { schema: answer.schema },
                    ...Object.fromEntries(
                      (answer.otherTypes ?? []).map((type) => [
                        type,
                        { schema: { type: 'string', examples: DOWNLOADS[type] } },
                      ]),
                    ),
                  },
                }),
      },
    ]),
    ...(versioned === true && method === 'GET'
      ? [[304, { description: 'If-None-Match has it already.', headers: { ETag: ETagHeader }, type: 'null' }]]
      : []),
  ]) as Record<string, object>;
}
