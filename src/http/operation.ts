import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Caller } from '../auth/callers.ts';
import type { Context } from '../runtime/context.ts';
import type { ExpectedVersion } from '../domain/shared/versions.ts';
import type { Access } from './access.ts';
import type { TotalLimit } from './validation/array-limits.ts';
import type { IdempotentWrite, IdempotencyOptions } from './idempotency.ts';
import type { OperationResult } from './operation-result.ts';

/** What an operation sends when it succeeds. */
export interface SuccessResponse {
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

type SuccessResponses = Readonly<Record<number, SuccessResponse>>;

type BodyOf<A extends SuccessResponses> = {
  [Status in keyof A]: A[Status] extends { schema: infer S extends TSchema } ? Static<S> : void;
}[keyof A];

type StaticOf<S> = S extends TSchema ? Static<S> : undefined;

/** A request that has been let in and validated. */
export type OperationRequest<P, Q, B, A extends SuccessResponses, R> = Pick<
  FastifyRequest,
  'headers' | 'id' | 'isLive' | 'method' | 'raw' | 'url'
> & {
  readonly caller: Caller;
  readonly params: StaticOf<P>;
  readonly query: StaticOf<Q>;
  readonly body: StaticOf<B>;
  /** What `If-Match` wants to find, for the rule to compare; `undefined` without it. */
  readonly ifMatch: ExpectedVersion | undefined;
} & (R extends undefined ? unknown : { readonly change: IdempotentWrite<BodyOf<A>> });

/** The credentials and scopes of an operation; the pages have other rules. */
export type OperationAccess = Extract<Access, object>;

/** What a list may be narrowed and sorted by, by the names in its query. */
export interface ListParameters {
  filters: readonly string[];
  sorts: readonly string[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How the body calls the inputs of the rule, where it has another name for them. */
    inputs?: Readonly<Record<string, string>>;
    /** Of a list: what it may be narrowed and sorted by. */
    list?: ListParameters;
    /** Whether the handler reads a body of `multipart/form-data` itself. */
    multipart?: boolean;
    /** Statuses that this route answers without a body. */
    bodiless?: readonly number[];
  }
}

interface OperationOptions<P, Q, B, A extends SuccessResponses, R> {
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
  alias?: string;
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
  totalLimit?: TotalLimit<StaticOf<B>>;
  /** In bytes; absent, `MEDIUM_BODY`, and `SMALL_BODY` for an operation that reads no body. */
  bodyLimit?: number;
  /** By status. The first is the one that is sent unless the handler sets another. */
  responses: A;
  /** Of a list: the parameters of its filters and its orders, which a test walks. */
  list?: ListParameters;
  /** Error statuses that come without a body. */
  withoutBody?: readonly number[];
  /** Error statuses that follow from nothing else that is said here. */
  extraErrorStatuses?: readonly number[];
  /**
   * That it is about one thing which has a version: its answers are made with `versioned`, and what changes the thing
   * gives `expected` to the rule.
   */
  versioned?: true;
  /** That `Idempotency-Key` is looked at: the handler changes through `change`. */
  idempotency?: R;
  /** @returns the body of the answer, or what `versioned`, `withHeaders` or `change` made of it */
  handler(
    request: OperationRequest<P, Q, B, A, R>,
    reply: FastifyReply,
  ): Promise<BodyOf<A> | OperationResult<BodyOf<A>>>;
}

type Schema = TSchema | undefined;

/** An operation that an area can register; what its handler takes and gives was checked where it was declared. */
export type Operation = OperationOptions<
  Schema,
  Schema,
  Schema,
  SuccessResponses,
  true | IdempotencyOptions | undefined
>;

/** Declares an operation for a process: schemas and limits may follow its configuration. */
export type OperationFactory = (context: Context) => Operation;

/**
 * Declares an operation. Its name, its success and the errors that follow from its method, its input and who may call
 * it stand here once; validation, the description and metrics read them from it.
 */
export function operation<
  const A extends SuccessResponses,
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  const R extends true | IdempotencyOptions | undefined = undefined,
>(declared: OperationOptions<P, Q, B, A, R>): Operation {
  return declared as Operation;
}

/** Whether the method changes one thing that is there, which `If-Match` may tell of. */
export function takesIfMatch(method: Operation['method']): boolean {
  return method !== 'GET' && method !== 'POST';
}
