import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { IssuerUnreachable } from '../auth/external-issuer.ts';
import { TooManyPasswords } from '../auth/passwords.ts';
import { Unavailable, WriteConflict } from '../db/engine.ts';
import { Failure, type Fault } from '../domain/shared/errors.ts';
import { WrongMasterKey } from '../domain/tokens/deployment-keys.ts';
import type { Area, Shape } from './areas.ts';
import { offendingValue } from './validation/rejected-value.ts';
import { KINDS, type ProblemKind } from './problem-types.ts';

const RETRY_AFTER_SECONDS = 2;
/** Before what needs an operator is worth another try. */
const OPERATOR_SECONDS = 60;

export interface ProblemDetails {
  faults?: readonly Fault[];
  /** The parameter or header at fault. */
  source?: string;
  batch?: { max: number; size: number };
  headers?: Record<string, string>;
}

/** A failure that has a status code: what every error becomes before an area gives it its shape. */
export class Problem extends Error {
  override name = 'Problem';
  readonly kind: ProblemKind;
  readonly details: ProblemDetails;

  constructor(kind: ProblemKind, message: string, details: ProblemDetails = {}, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.details = details;
  }

  get status(): number {
    return KINDS[this.kind].status;
  }
}

/** @returns the problem that an error is; whatever nobody foresaw is an internal error that tells nothing */
export function toProblem(error: unknown, area?: Area): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Failure) return fromFailure(error, area);
  if (error instanceof WriteConflict) {
    return new Problem(
      'conflict',
      'Others are changing the same things, so nothing was changed. Send the request again.',
      {},
      { cause: error },
    );
  }
  if (error instanceof WrongMasterKey) return outdated(error);
  if (error instanceof Unavailable || error instanceof IssuerUnreachable || error instanceof TooManyPasswords)
    return unavailable(error);
  switch ((error as FastifyError).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem(
        'body-too-large',
        'The body is larger than this server takes.',
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
      return new Problem('invalid-request', 'The body does not have the length that Content-Length says.');
    case 'FST_ERR_BAD_URL':
      return new Problem('invalid-request', 'The path is not a valid URL path.', { source: 'path' });
    default:
      return fromLibrary(error);
  }
}

/**
 * What Fastify and its plugins refuse stays the request's fault, and is told in our words: theirs name files. An upload
 * that breaks off comes like this as well.
 */
function fromLibrary(error: unknown): Problem {
  const { statusCode } = error as Partial<FastifyError>;
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) {
    return new Problem(
      'internal-error',
      'The server failed. Its log has the reason under the request id.',
      {},
      { cause: error },
    );
  }
  const [kind, message] =
    LIBRARY_REFUSALS[statusCode] ??
    ([
      'invalid-request',
      'The request is malformed, or asks for something that this server does not support.',
    ] as const);
  return new Problem(kind, message, {}, { cause: error });
}

const LIBRARY_REFUSALS: Readonly<Record<number, readonly [ProblemKind, string]>> = {
  403: ['forbidden', 'This path is not served.'],
  404: ['not-found', 'There is nothing at this path.'],
  412: ['precondition-failed', 'The file is not the one that If-Match or If-Unmodified-Since asks for.'],
  413: ['body-too-large', 'The body is larger than this server takes.'],
  415: ['unsupported-media-type', 'The body has a type that this path does not take.'],
  416: ['range-not-satisfiable', 'The range of bytes that Range asks for does not exist.'],
};

function unavailable(cause: unknown): Problem {
  return new Problem(
    'unavailable',
    `The service is unavailable for the moment. Try again in ${RETRY_AFTER_SECONDS} seconds.`,
    { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
    { cause },
  );
}

/** Nothing that the caller does helps; another instance may have the key. */
function outdated(cause: WrongMasterKey): Problem {
  return new Problem(
    'unavailable',
    'This needs a signing key that this server cannot open, as its master key was changed. An operator has to start it again with the new one.',
    { headers: { 'retry-after': String(OPERATOR_SECONDS) } },
    { cause },
  );
}

function fromFailure(failure: Failure, area: Area | undefined): Problem {
  const kinds = {
    missing: area?.missing ?? 'not-found',
    forbidden: 'forbidden',
    invalid: 'validation-failed',
    conflict: 'conflict',
    changed: 'precondition-failed',
    oversized: 'batch-too-large',
  } as const;
  const source = failure.faults[0]?.property;
  return new Problem(
    kinds[failure.kind],
    failure.message,
    {
      faults: failure.faults,
      ...(source === undefined ? {} : { source }),
      ...(failure.batch === undefined ? {} : { batch: failure.batch }),
    },
    { cause: failure },
  );
}

/** What a problem's body may need to know of the request and the deployment. */
export interface ProblemContext {
  requestId: string;
  errorTypeBase: string;
}

/** Sends a problem in the shape that the area gives its status (docs/decided.md, section 4). */
export function sendProblem(
  reply: FastifyReply,
  request: FastifyRequest,
  area: Area,
  problem: Problem,
  errorTypeBase: string,
): FastifyReply {
  const status = area.statuses?.[problem.status] ?? problem.status;
  reply
    .code(status)
    .headers(problem.details.headers ?? {})
    .header('cache-control', 'no-store');
  if (request.routeOptions.config.bodiless?.includes(status)) return reply.send();
  const { type, body } = problemBody(problem, area, { requestId: request.id, errorTypeBase });
  return reply.type(type).serializer(JSON.stringify).send(body);
}

/** @returns the body of a problem, as the area has it, and its media type */
export function problemBody(
  problem: Problem,
  area: Area,
  context: ProblemContext,
): { type: string; body: object } {
  const status = area.statuses?.[problem.status] ?? problem.status;
  const shape = area.shapeOf(status);
  const kind = area.kinds?.[problem.kind] ?? problem.kind;
  return {
    type: `${mediaTypeOf(shape)}; charset=utf-8`,
    body: SHAPES[shape](problem, { ...context, kind, status, area: area.name }),
  };
}

export function mediaTypeOf(shape: Shape): 'application/json' | 'application/problem+json' {
  return shape === 'A' || shape === 'D' ? 'application/json' : 'application/problem+json';
}

interface ShapeInput extends ProblemContext {
  kind: ProblemKind;
  status: number;
  area: string;
}

/** The four error bodies of the specification. */
const SHAPES = {
  A: (problem: Problem, input: ShapeInput) => ({ id: input.requestId, error: problem.message }),

  B: (problem: Problem, input: ShapeInput) => ({
    type: typeUri(input),
    title: KINDS[input.kind].title,
    status: input.status,
    detail: problem.message,
    instance: input.requestId,
    ...groupFaults(problem.details.faults ?? []),
    ...(problem.details.batch === undefined
      ? {}
      : { maxBatchSize: problem.details.batch.max, batchSize: problem.details.batch.size }),
  }),

  C: (problem: Problem, input: ShapeInput) => ({
    status: input.status,
    title: KINDS[input.kind].title,
    type: typeUri(input),
    detail: problem.message,
    instance: input.requestId,
    logId: input.requestId,
  }),

  D: (problem: Problem, input: ShapeInput) => ({
    detail: problem.message,
    id: input.requestId,
    source: problem.details.source ?? '',
    status: input.status,
    title: KINDS[input.kind].title,
  }),
} as const satisfies Record<Shape, (problem: Problem, input: ShapeInput) => object>;

function typeUri(input: ShapeInput): string {
  return `${input.errorTypeBase}/${input.area}/${input.kind}`;
}

interface FaultBody {
  message: string;
  property: string;
  value?: string;
}

/** Faults inside an array, which the body itself may be, go by the item's index, the others stand alone. */
function groupFaults(faults: readonly Fault[]): {
  failedValidation?: FaultBody[];
  failedValidations?: { index: number; failedValidation: FaultBody[] }[];
} {
  const single: FaultBody[] = [];
  const perItem = new Map<number, FaultBody[]>();
  for (const fault of faults) {
    const body = { message: fault.message, property: fault.property, ...valueOf(fault) };
    const index = /^(?:[^.]+\.)?(\d+)(?:\.|$)/.exec(fault.property)?.[1];
    const item = index === undefined ? single : perItem.get(Number(index));
    if (item === undefined) perItem.set(Number(index), [body]);
    else item.push(body);
  }
  return {
    ...(single.length === 0 ? {} : { failedValidation: single }),
    ...(perItem.size === 0
      ? {}
      : {
          failedValidations: [...perItem].map(([index, failedValidation]) => ({ index, failedValidation })),
        }),
  };
}

function valueOf(fault: Fault): { value?: string } {
  if (fault.value === undefined) return {};
  return { value: offendingValue(fault.value) };
}
