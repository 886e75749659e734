import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { IssuerUnreachable } from '../auth/external-issuer.ts';
import { PasswordQueueFull } from '../auth/passwords.ts';
import { OperationAborted, StorageError } from '../db/database.ts';
import { describeFieldError, DomainError, type DescribedFieldError } from '../domain/shared/errors.ts';
import { MasterKeyMismatch } from '../domain/tokens/server-keys.ts';
import type { Area, ErrorBodyFormat } from './areas.ts';
import { PROBLEM_TYPES, type ProblemTypeName } from './problem-types.ts';

const RETRY_AFTER_SECONDS = 2;
/** Until a retry may help after a problem that needs an operator. */
const OPERATOR_RETRY_AFTER_SECONDS = 60;

export interface ProblemDetails {
  fieldErrors?: readonly DescribedFieldError[];
  /** The invalid parameter or header. */
  source?: string;
  batch?: { max: number; size: number };
  headers?: Record<string, string>;
}

/** An error with a status code. Areas format it in their own way. */
export class Problem extends Error {
  override name = 'Problem';
  readonly type: ProblemTypeName;
  readonly details: ProblemDetails;

  constructor(kind: ProblemTypeName, message: string, details: ProblemDetails = {}, options?: ErrorOptions) {
    super(message, options);
    this.type = kind;
    this.details = details;
  }

  get status(): number {
    return PROBLEM_TYPES[this.type].status;
  }
}

/** Converts any error to a problem. An unexpected one becomes an internal error that discloses nothing. */
export function toProblem(error: unknown, area?: Area): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof DomainError) return fromDomainError(error, area);
  if (error instanceof StorageError && error.code === 'conflict') {
    return new Problem(
      'conflict',
      'Another request changed the same objects at the same time. Nothing was changed; send the request again.',
      {},
      { cause: error },
    );
  }
  if (error instanceof MasterKeyMismatch) return outdatedMasterKey(error);
  if (
    error instanceof StorageError ||
    error instanceof OperationAborted ||
    error instanceof IssuerUnreachable ||
    error instanceof PasswordQueueFull
  )
    return unavailable(error);
  switch ((error as FastifyError).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem(
        'body-too-large',
        'The body is larger than this server accepts.',
        {},
        { cause: error },
      );
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem(
        'unsupported-media-type',
        'The body must be JSON: send it with Content-Type: application/json.',
        { source: 'Content-Type' },
        { cause: error },
      );
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem('invalid-request', 'The length of the body differs from Content-Length.');
    case 'FST_ERR_BAD_URL':
      return new Problem('invalid-request', 'The path is not a valid URL path.', { source: 'path' });
    default:
      return fromLibraryError(error);
  }
}

/**
 * Maps 4xx errors of Fastify and its plugins to our messages, because theirs name files. A truncated JSON body is one
 * of them. Any other error becomes an internal error.
 */
function fromLibraryError(error: unknown): Problem {
  const { statusCode } = error as Partial<FastifyError>;
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) {
    return new Problem(
      'internal-error',
      'The server failed. The log has the cause under the request id.',
      {},
      { cause: error },
    );
  }
  const [kind, message] =
    LIBRARY_ERRORS[statusCode] ??
    ([
      'invalid-request',
      'The request is malformed, or uses a feature that this server does not support.',
    ] as const);
  return new Problem(kind, message, {}, { cause: error });
}

const LIBRARY_ERRORS: Readonly<Record<number, readonly [ProblemTypeName, string]>> = {
  403: ['forbidden', 'This path is not available.'],
  404: ['not-found', 'Nothing exists at this path.'],
  412: ['precondition-failed', 'The file does not match If-Match or If-Unmodified-Since.'],
  413: ['body-too-large', 'The body is larger than this server accepts.'],
  415: ['unsupported-media-type', 'This path does not accept a body of this type.'],
  416: ['range-not-satisfiable', 'The requested range does not exist.'],
};

function unavailable(cause: unknown): Problem {
  return new Problem(
    'unavailable',
    `The service is temporarily unavailable. Try again in ${RETRY_AFTER_SECONDS} seconds.`,
    { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
    { cause },
  );
}

/** Another instance may have the key, so a retry may help. */
function outdatedMasterKey(cause: MasterKeyMismatch): Problem {
  return new Problem(
    'unavailable',
    'This requires a signing key that the server cannot open because its master key was changed. Ask an operator to restart the server with the new master key.',
    { headers: { 'retry-after': String(OPERATOR_RETRY_AFTER_SECONDS) } },
    { cause },
  );
}

function fromDomainError(failure: DomainError, area: Area | undefined): Problem {
  const kinds = {
    'not-found': area?.notFoundType ?? 'not-found',
    forbidden: 'forbidden',
    invalid: 'validation-failed',
    conflict: 'conflict',
    'version-mismatch': 'precondition-failed',
    'limit-exceeded': 'validation-failed',
    'rate-limited': 'rate-limited',
    'too-many': 'batch-too-large',
  } as const;
  const source = failure.fieldErrors[0]?.property;
  return new Problem(
    kinds[failure.kind],
    failure.message,
    {
      fieldErrors: failure.fieldErrors.map(describeFieldError),
      ...(source === undefined ? {} : { source }),
      ...(failure.sizeLimit === undefined ? {} : { batch: failure.sizeLimit }),
      ...(failure.kind === 'rate-limited' ? { headers: retryAfterOf(failure) } : {}),
    },
    { cause: failure },
  );
}

function retryAfterOf({ params }: DomainError): Record<string, string> {
  return params !== undefined && 'retryAfter' in params ? { 'retry-after': String(params.retryAfter) } : {};
}

/** The properties of the request and the server that appear in the body of a problem. */
export interface ProblemContext {
  requestId: string;
  errorTypeBase: string;
}

/** Sends a problem in the format of the area (docs/decided.md, section 4). */
export function sendProblem(
  reply: FastifyReply,
  request: FastifyRequest,
  area: Area,
  problem: Problem,
  errorTypeBase: string,
): FastifyReply {
  const status = area.statusOverrides?.[problem.status] ?? problem.status;
  reply
    .code(status)
    .headers(problem.details.headers ?? {})
    .header('cache-control', 'no-store');
  if (request.routeOptions.config.emptyErrorStatuses?.includes(status)) return reply.send();
  const { type, body } = problemBody(problem, area, { requestId: request.id, errorTypeBase });
  return reply.type(type).serializer(JSON.stringify).send(body);
}

/** Returns the body of a problem in the format of the area, and its media type. */
export function problemBody(
  problem: Problem,
  area: Area,
  context: ProblemContext,
): { type: string; body: object } {
  const status = area.statusOverrides?.[problem.status] ?? problem.status;
  const shape = area.errorBodyFormatOf(status);
  const kind = area.problemTypes?.[problem.type] ?? problem.type;
  return {
    type: `${errorMediaType(shape)}; charset=utf-8`,
    body: ERROR_BODIES[shape](problem, { ...context, type: kind, status, area: area.name }),
  };
}

export function errorMediaType(shape: ErrorBodyFormat): 'application/json' | 'application/problem+json' {
  return shape === 'simple' || shape === 'sourcedProblem' ? 'application/json' : 'application/problem+json';
}

interface ErrorBodyInput extends ProblemContext {
  type: ProblemTypeName;
  status: number;
  area: string;
}

const ERROR_BODIES = {
  simple: (problem: Problem, input: ErrorBodyInput) => ({ id: input.requestId, error: problem.message }),

  problem: (problem: Problem, input: ErrorBodyInput) => ({
    type: typeUri(input),
    title: PROBLEM_TYPES[input.type].title,
    status: input.status,
    detail: problem.message,
    instance: input.requestId,
    ...groupFieldErrors(problem.details.fieldErrors ?? []),
    ...(problem.details.batch === undefined
      ? {}
      : { maxBatchSize: problem.details.batch.max, batchSize: problem.details.batch.size }),
  }),

  loggedProblem: (problem: Problem, input: ErrorBodyInput) => ({
    status: input.status,
    title: PROBLEM_TYPES[input.type].title,
    type: typeUri(input),
    detail: problem.message,
    instance: input.requestId,
    logId: input.requestId,
  }),

  sourcedProblem: (problem: Problem, input: ErrorBodyInput) => ({
    detail: problem.message,
    id: input.requestId,
    source: problem.details.source ?? '',
    status: input.status,
    title: PROBLEM_TYPES[input.type].title,
  }),
} as const satisfies Record<ErrorBodyFormat, (problem: Problem, input: ErrorBodyInput) => object>;

function typeUri(input: ErrorBodyInput): string {
  return `${input.errorTypeBase}/${input.area}/${input.type}`;
}

interface FieldErrorBody {
  message: string;
  property: string;
  value?: string;
}

/** Errors in a response. A hostile body may have many more; the message counts them. */
export const MAX_FIELD_ERRORS = 5_000;

/** Groups errors inside an array, which may be the body itself, by the index of the item. */
function groupFieldErrors(errors: readonly DescribedFieldError[]): {
  failedValidation?: FieldErrorBody[];
  failedValidations?: { index: number; failedValidation: FieldErrorBody[] }[];
} {
  const single: FieldErrorBody[] = [];
  const perItem = new Map<number, FieldErrorBody[]>();
  for (const error of errors.slice(0, MAX_FIELD_ERRORS)) {
    const body = { message: error.message, property: error.property, ...rejectedValueOf(error) };
    const index = /^(?:[^.]+\.)?(\d+)(?:\.|$)/.exec(error.property)?.[1];
    const item = index === undefined ? single : perItem.get(Number(index));
    if (item === undefined) perItem.set(Number(index), [body]);
    else item.push(body);
  }
  return {
    ...(single.length === 0 ? {} : { failedValidation: single }),
    ...(perItem.size === 0
      ? {}
      : {
          failedValidations: [...perItem]
            .sort(([one], [other]) => one - other)
            .map(([index, failedValidation]) => ({ index, failedValidation })),
        }),
  };
}

function rejectedValueOf(error: DescribedFieldError): { value?: string } {
  if (error.value === undefined) return {};
  return { value: formatRejectedValue(error.value) };
}

const MAX_REJECTED_VALUE = 100;

/**
 * Returns the value as text or JSON, truncated to 100 characters. Reads no more than that: a hostile value may be
 * megabytes long, or nested too deep for `JSON.stringify`.
 */
export function formatRejectedValue(value: unknown): string {
  let text = '';
  // A character may take two code units.
  for (const part of typeof value === 'string' ? [value] : serializeInChunks(value)) {
    text += part.slice(0, 2 * MAX_REJECTED_VALUE);
    if (text.length >= 2 * MAX_REJECTED_VALUE) break;
  }
  return Array.from(text).slice(0, MAX_REJECTED_VALUE).join('').toWellFormed();
}

/** Yields what `JSON.stringify` returns for a parsed JSON value. */
function* serializeInChunks(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    yield '[';
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ',';
      yield* serializeInChunks(item);
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null) {
    yield '{';
    let separator = '';
    // Object.entries would copy a large object.
    for (const key in value) {
      yield `${separator}${JSON.stringify(key)}:`;
      separator = ',';
      yield* serializeInChunks((value as Record<string, unknown>)[key]);
    }
    yield '}';
  } else if (typeof value === 'string') yield JSON.stringify(value.slice(0, 2 * MAX_REJECTED_VALUE));
  else yield JSON.stringify(value) ?? '';
}
