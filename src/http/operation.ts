import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Caller } from '../auth/callers.ts';
import type { Context } from '../context.ts';
import type { Access } from './access.ts';
import type { Area } from './areas.ts';
import { IGNORED_HEADER, IgnoredHeader, listIgnored } from './ignored-properties.ts';
import { MEDIUM_BODY, SMALL_BODY } from './json-bodies.ts';
import { errorResponses } from './schemas.ts';
import type { TotalLimit } from './batches.ts';
import { compileValidatorWith } from './validation.ts';

/** What an operation sends when it succeeds. */
export interface Answer {
  description: string;
  /** Of the body; absent where there is none. */
  schema?: TSchema;
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
export type OperationRequest<P, Q, B> = Pick<FastifyRequest, 'headers' | 'id' | 'isLive' | 'url'> & {
  readonly caller: Caller;
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
};

/** The credentials and scopes of an operation; the pages have other rules. */
export type OperationAccess = Extract<Access, object>;

/** What a list may be narrowed and sorted by, by the names in its query. */
export interface ListParameters {
  parameters: readonly string[];
  sorts: readonly string[];
}

interface Declaration<P, Q, B, A extends Answers> {
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
  /** @returns the body of the answer */
  handler(request: OperationRequest<P, Q, B>, reply: FastifyReply): Promise<BodyOf<A>>;
}

type Schema = TSchema | undefined;

/** An operation that an area can register; what its handler takes and gives was checked where it was declared. */
export type Operation = Declaration<Schema, Schema, Schema, Answers>;

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
>(declared: Declaration<P, Q, B, A>): Operation {
  return declared as Operation;
}

/** Adds an operation to its area. */
export function registerOperation(app: FastifyInstance, area: Area, declared: Operation): void {
  const { id, access, bodiless, inputs, list, params, query, body, total, handler } = declared;
  const status = Number(Object.keys(declared.answers)[0]);
  const bodyLimit = declared.bodyLimit ?? (body === undefined ? SMALL_BODY : MEDIUM_BODY);
  const ignoredNames = body === undefined ? undefined : listIgnored(body);
  for (const url of [declared.path, declared.alsoAt]) {
    if (url === undefined) continue;
    app.route({
      method: declared.method,
      url,
      bodyLimit,
      ...(total === undefined
        ? {}
        : { validatorCompiler: compileValidatorWith(total as TotalLimit<unknown>) }),
      config: {
        operation: id,
        access,
        ...(inputs === undefined ? {} : { inputs }),
        ...(list === undefined ? {} : { list }),
        ...(bodiless === undefined ? {} : { bodiless }),
      },
      schema: {
        hide: url !== declared.path,
        operationId: id,
        summary: `${declared.number}. ${declared.summary}`,
        description: declared.description,
        ...(params === undefined ? {} : { params }),
        ...(query === undefined ? {} : { querystring: query }),
        ...(body === undefined ? {} : { body }),
        response: {
          ...describeAnswers(declared.answers, ignoredNames !== undefined),
          ...errorResponses(area, errorStatuses(declared), bodiless),
        },
      },
      handler: async (request, reply) => {
        reply.code(status);
        const answer = handler(request as OperationRequest<undefined, undefined, undefined>, reply);
        const ignored = ignoredNames?.(request.body as object) ?? '';
        if (ignored === '') return answer;
        return answer.then((content) => {
          reply.header(IGNORED_HEADER, ignored);
          return content;
        });
      },
    });
  }
}

/** The errors that this operation can answer beside those that every operation can. */
function errorStatuses({ method, access, params, query, body }: Operation): number[] {
  const takesInput = params !== undefined || query !== undefined || body !== undefined;
  return [
    // Several schemes at once are malformed as well.
    ...(takesInput || access.schemes === 'all' ? [400] : []),
    // A change may clash with another one, and a body that nobody reads is looked at all the same.
    ...(method === 'GET' ? [] : [409, 413, 415]),
    ...(body === undefined ? [] : [422]),
  ];
}

function describeAnswers(answers: Answers, mayIgnore: boolean): Record<string, object> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, headers, otherTypes = [] }]) => [
      status,
      {
        description,
        headers: { ...headers, ...(mayIgnore ? { [IGNORED_HEADER]: IgnoredHeader } : {}) },
        ...(schema === undefined
          ? { type: 'null' }
          : {
              content: {
                'application/json': { schema },
                ...Object.fromEntries(otherTypes.map((type) => [type, { schema: { type: 'string' } }])),
              },
            }),
      },
    ]),
  );
}
