import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Caller } from '../auth/callers.ts';
import type { AreaName } from '../config/config.ts';
import type { Context } from '../context.ts';
import type { FieldError } from '../domain/shared/errors.ts';
import type { PartialInput } from '../domain/shared/partial-input.ts';
import type { ExpectedVersion } from '../domain/shared/versions.ts';
import type { Database } from '../db/database.ts';
import type { Access } from './access.ts';
import type { BodyItemLimit } from './validation/array-limits.ts';
import type { WriteOnce, IdempotencyOptions } from './idempotency.ts';
import type { OperationResult } from './operation-result.ts';

export interface SuccessResponse {
  description: string;
  /** Absent if there is no body. */
  schema?: TSchema;
  /** Whether the body is a file instead of JSON. */
  binary?: true;
  /** A stream of text in this media type. */
  stream?: { type: string; example: string };
  /** Headers of this response only. The server adds the common ones. */
  headers?: Readonly<Record<string, object>>;
  /** Media types in addition to JSON. */
  otherTypes?: readonly string[];
}

type SuccessResponses = Readonly<Record<number, SuccessResponse>>;

type BodyOf<A extends SuccessResponses> = {
  [Status in keyof A]: A[Status] extends { schema: infer S extends TSchema } ? Static<S> : void;
}[keyof A];

type StaticOf<S> = S extends TSchema ? Static<S> : undefined;

export type OperationRequest<P, Q, B, A extends SuccessResponses, R> = Pick<
  FastifyRequest,
  'abortState' | 'headers' | 'id' | 'isLive' | 'method' | 'raw' | 'url'
> & {
  readonly caller: Caller;
  readonly params: StaticOf<P>;
  readonly query: StaticOf<Q>;
  readonly body: StaticOf<B>;
  /** The versions in `If-Match`; `undefined` without it. */
  readonly ifMatch: ExpectedVersion | undefined;
} & Writer<BodyOf<A>, R>;

/** Handlers of operations with `idempotency` have `writeOnce`, the others `write`. Each commits one transaction. */
type Writer<Body, R> = R extends undefined
  ? { /** `Database.write`, unless the request is aborted first. */ readonly write: Database['write'] }
  : { readonly writeOnce: WriteOnce<Body> };

export type OperationAccess = Extract<Access, object>;

/** The filters and sort columns of a list, as its query names them. */
export interface ListParameters {
  filters: readonly string[];
  sorts: readonly string[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Maps inputs of the domain to properties of the body that have other names. */
    inputs?: Readonly<Record<string, string>>;
    list?: ListParameters;
    /** Whether the handler parses a `multipart/form-data` body itself. */
    multipart?: boolean;
    /** Error statuses without a body. */
    emptyErrorStatuses?: readonly number[];
  }
}

interface OperationOptions<P, Q, B, A extends SuccessResponses, R> {
  /** Its name in the API description, in metrics and in logs. */
  id: string;
  number: number;
  summary: string;
  description: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the prefix of the area. */
  path: string;
  /** A second spelling of the path that the router needs; absent from the API description. */
  alias?: string;
  access: OperationAccess;
  params?: P;
  query?: Q;
  body?: B;
  /** Whether the body may be a JSON merge patch (RFC 7396). */
  mergePatch?: true;
  /** Query parameters that can replace properties of the body, which may then be absent. */
  bodyParameters?: readonly string[];
  /** Schema of a `multipart/form-data` body, which the handler reads with `readUpload`. */
  multipart?: TSchema;
  /** Maps inputs of the domain to properties of the body that have other names, for error messages. */
  inputs?: Readonly<Record<string, string>>;
  /**
   * The rules of the domain for the body that need no database, so that an invalid body gets their errors and those of
   * the schema in one response. The handler applies the same rules to a valid body.
   */
  validate?(body: PartialInput<StaticOf<B>>): readonly FieldError[];
  /** A limit on items in the whole body, checked before their values (413). */
  totalLimit?: BodyItemLimit<StaticOf<B>>;
  /** Bytes. Defaults to `MEDIUM_BODY_LIMIT`, or `SMALL_BODY_LIMIT` if the operation has no body. */
  bodyLimit?: number;
  /** The responses by status. The lowest status is the default. */
  responses: A;
  /** Filters and sort columns of a list. A test covers each. */
  list?: ListParameters;
  /** Error statuses without a body. */
  emptyErrorStatuses?: readonly number[];
  /** Error statuses that do not follow from other options. */
  extraErrorStatuses?: readonly number[];
  /**
   * Whether the operation is about one versioned object: responses are made by `versionedResult`, and changes check
   * `ifMatch`.
   */
  versioned?: true;
  /** Whether a response contains a secret, such as the link of an invitation. */
  hasSecret?: true;
  /** Enables `Idempotency-Key`. */
  idempotency?: R;
  /**
   * @returns the body of the response, a stream of it, or the result of `versionedResult`, `withHeaders` or `writeOnce`
   */
  handler(
    request: OperationRequest<P, Q, B, A, R>,
    reply: FastifyReply,
  ): Promise<BodyOf<A> | Readable | OperationResult<BodyOf<A>>>;
}

type Schema = TSchema | undefined;

/** A declared operation. Its types were checked by `operation`. */
export type Operation = OperationOptions<
  Schema,
  Schema,
  Schema,
  SuccessResponses,
  true | IdempotencyOptions | undefined
>;

/** Creates an operation; its schemas and limits may depend on the configuration. */
export type OperationFactory = (context: Context) => Operation;

/** The operations of a file in `src/api`. */
export interface AreaOperations {
  area: AreaName;
  operations: readonly OperationFactory[];
}

/**
 * Makes the default export of a file in `src/api`, in which `src/api/operations.ts` finds its operations.
 *
 * @example
 * export default operationsOf('v1', [listTokensOperation, createTokenOperation]);
 */
export function operationsOf(area: AreaName, operations: readonly OperationFactory[]): AreaOperations {
  return { area, operations };
}

/**
 * Declares an operation: its name, its responses and who may call it. Validation, the API description and metrics
 * derive from it.
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

/** Whether the method changes one existing object, so that `If-Match` applies. */
export function takesIfMatch(method: Operation['method']): boolean {
  return method !== 'GET' && method !== 'POST';
}
