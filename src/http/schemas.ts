import { type Static, type TSchema, Type } from 'typebox';
import type { Area } from './areas.ts';
import { MAX_NAME_LENGTH, NAME_PATTERN } from '../domain/shared/names.ts';
import { errorMediaType, MAX_FIELD_ERRORS } from './problems.ts';

/** Every string and array of a schema has a limit. */

export const MAX_TEXT = 2_048;
const MAX_URL = 4_096;

/** ISO 8601, UTC, with milliseconds. */
export const DateTimeSchema = Type.String({
  format: 'date-time',
  maxLength: 24,
  examples: ['2026-11-21T10:30:00.000Z'],
});

export const RequestIdSchema = Type.String({
  format: 'uuid',
  maxLength: 64,
  description: 'The id of the request, which is also in the log.',
});

/** A name in a request (docs/decided.md, section 6). */
export const nameSchema = (example: string) =>
  Type.String({
    pattern: NAME_PATTERN,
    maxLength: MAX_TEXT,
    description: `1 to ${MAX_NAME_LENGTH} characters, not counting leading and trailing space. Line breaks and other control characters are rejected.`,
    examples: [example],
  });

const MAX_STORED_TEXT = 65_536;

/** A text in a response, limited by the database. */
export const textSchema = (example: string) =>
  Type.String({ maxLength: MAX_STORED_TEXT, examples: [example] });

export const urlSchema = (example: string) =>
  Type.String({ format: 'uri', maxLength: MAX_STORED_TEXT, examples: [example] });

export const emailSchema = (example: string) =>
  Type.String({ format: 'email', maxLength: MAX_STORED_TEXT, examples: [example] });

/** Keywords that only the API description uses. */
export const DESCRIBED = 'x-described';

/**
 * Describes a rule that the domain checks, so that its error stays the one of the domain: the validator ignores these
 * keywords, and the API description has them.
 */
export const describedAs = <S extends TSchema>(
  schema: S,
  keywords: { enum?: readonly string[]; pattern?: string },
): S => ({ ...schema, [DESCRIBED]: keywords });

/** Nullable. One schema with two types instead of a union, which the serializer would try in turn. */
export const nullableTextSchema = (example: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: MAX_STORED_TEXT, examples: [example] });

/**
 * Makes a schema nullable: in a response for unknown values, in a body where `null` has a meaning (elsewhere in a
 * companion's body `null` counts as absent). An object becomes a union, so that its own schema has one type.
 */
export function nullable<S extends TSchema>(schema: S): Type.TUnsafe<Static<S> | null> {
  const { type, enum: values, ...rest } = schema as S & { type?: unknown; enum?: unknown[] };
  if (type === 'object') return Type.Unsafe(Type.Union([schema, Type.Null()]));
  return Type.Unsafe<Static<S> | null>({
    ...rest,
    type: [type, 'null'].flat(),
    ...(values === undefined ? {} : { enum: [...values, null] }),
  });
}

/** Upper bound of unpaged responses. */
export const MAX_RESULTS = 1_000_000;

const ProblemTypeSchema = Type.String({ format: 'uri', maxLength: MAX_URL });

const FailedValidationSchema = Type.Array(
  Type.Object(
    {
      message: Type.String({ maxLength: MAX_TEXT }),
      property: Type.String({ maxLength: MAX_TEXT, description: 'Dotted path from the root of the body.' }),
      value: Type.Optional(
        Type.String({ maxLength: 100, description: 'Truncated to 100 characters. Absent for secrets.' }),
      ),
    },
    { title: 'Failed value' },
  ),
  { maxItems: MAX_FIELD_ERRORS },
);

export const ERROR_SCHEMAS = {
  simple: Type.Object(
    { id: RequestIdSchema, error: Type.String({ maxLength: MAX_TEXT }) },
    { title: 'Simple error' },
  ),
  problem: Type.Object(
    {
      type: ProblemTypeSchema,
      title: Type.String({ maxLength: MAX_TEXT }),
      status: Type.Integer(),
      detail: Type.String({ maxLength: MAX_TEXT }),
      instance: RequestIdSchema,
      failedValidation: Type.Optional(FailedValidationSchema),
      failedValidations: Type.Optional(
        Type.Array(
          Type.Object(
            { index: Type.Integer(), failedValidation: FailedValidationSchema },
            { title: 'Failed item' },
          ),
          { maxItems: MAX_FIELD_ERRORS },
        ),
      ),
      maxBatchSize: Type.Optional(Type.Integer()),
      batchSize: Type.Optional(Type.Integer()),
    },
    { title: 'Validation problem' },
  ),
  loggedProblem: Type.Object(
    {
      status: Type.Integer(),
      title: Type.String({ maxLength: MAX_TEXT }),
      type: ProblemTypeSchema,
      detail: Type.String({ maxLength: MAX_TEXT }),
      instance: RequestIdSchema,
      logId: RequestIdSchema,
    },
    { title: 'Group problem' },
  ),
  sourcedProblem: Type.Object(
    {
      detail: Type.String({ maxLength: MAX_TEXT }),
      id: RequestIdSchema,
      source: Type.String({
        maxLength: MAX_TEXT,
        description: 'The invalid parameter or header, or an empty string.',
      }),
      status: Type.Integer(),
      title: Type.String({ maxLength: MAX_TEXT }),
    },
    { title: 'Port error' },
  ),
};

/**
 * Describes the error responses of an operation.
 * @param statuses those in addition to the ones of every operation
 * @param options `emptyErrorStatuses`: those without a body; `idempotent`: whether a 409 may have Retry-After
 */
export function errorResponses(
  area: Area,
  statuses: readonly number[],
  {
    emptyErrorStatuses = [],
    idempotent = false,
  }: { emptyErrorStatuses?: readonly number[] | undefined; idempotent?: boolean } = {},
) {
  const common = [401, 403, 404, 429, 500, 503];
  return Object.fromEntries(
    [...new Set([...common, ...statuses.map((status) => area.statusOverrides?.[status] ?? status)])]
      .sort((a, b) => a - b)
      .map((status) => {
        const description = STATUS_DESCRIPTIONS[status] ?? 'Error';
        if (emptyErrorStatuses.includes(status))
          return [status, { description: `${description} The response has no body.`, type: 'null' }];
        const shape = area.errorBodyFormatOf(status);
        const headers = status === 409 && idempotent ? { headers: { 'Retry-After': RetryAfterHeader } } : {};
        return [
          status,
          { description, ...headers, content: { [errorMediaType(shape)]: { schema: ERROR_SCHEMAS[shape] } } },
        ];
      }),
  );
}

const RetryAfterHeader = {
  type: 'integer',
  description:
    'Seconds until the first request with this Idempotency-Key may have finished. Absent for other conflicts.',
};

const STATUS_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is malformed: the body is not JSON, a value has the wrong type, or a parameter is invalid.',
  401: 'The credential is missing or invalid.',
  403: 'The credential or the role does not permit this.',
  404: 'The object does not exist, or is not visible to the caller.',
  408: 'The body did not arrive in time.',
  409: 'The change conflicts with the current state.',
  412: 'If-Match does not match the current version.',
  413: 'The batch or the body is too large.',
  415: 'Content-Type is not supported.',
  422: 'A value is invalid.',
  429: 'Too many requests. Retry-After has the seconds to wait.',
  500: 'Internal server error.',
  503: 'The service is unavailable. Retry-After has the seconds to wait.',
};
