import { type Static, type TSchema, Type } from 'typebox';
import type { Area } from './areas.ts';
import { MAX_NAME_LENGTH, NAME_PATTERN } from '../domain/shared/names.ts';
import { errorMediaType } from './problems.ts';

/** What the schemas of every area are made of. Every string and array has a limit. */

export const MAX_TEXT = 2_048;
const MAX_URL = 4_096;

/** ISO 8601, UTC, with milliseconds. */
export const DateTimeSchema = Type.String({
  format: 'date-time',
  maxLength: 24,
  examples: ['2026-11-21T10:30:00.000Z'],
});

export const RequestIdSchema = Type.String({
  maxLength: 64,
  description: "The request's id, as in the log.",
});

/** The name of something, in a request (docs/decided.md, section 6). */
export const nameSchema = (example: string) =>
  Type.String({
    pattern: NAME_PATTERN,
    maxLength: MAX_TEXT,
    description: `1 to ${MAX_NAME_LENGTH} characters, outer space not counted.`,
    examples: [example],
  });

const MAX_STORED_TEXT = 65_536;

/** A text in an answer, which the database limits. */
export const textSchema = (example: string) =>
  Type.String({ maxLength: MAX_STORED_TEXT, examples: [example] });

/** The same, which may be unknown: type and null in one, and not a union, which the serializer would try in turn. */
export const nullableTextSchema = (example: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: MAX_STORED_TEXT, examples: [example] });

/**
 * The same schema, of what may be `null` as well: in an answer where nothing is known, in a body where `null` means
 * something (elsewhere in the body of a companion it is as good as absent).
 */
export function nullable<S extends TSchema>(schema: S): Type.TUnsafe<Static<S> | null> {
  const { type, enum: values, ...rest } = schema as S & { type?: unknown; enum?: unknown[] };
  return Type.Unsafe<Static<S> | null>({
    ...rest,
    type: [type, 'null'].flat(),
    ...(values === undefined ? {} : { enum: [...values, null] }),
  });
}

/** What is true of the largest answers that nobody pages. */
export const MAX_RESULTS = 1_000_000;

const FailedValidationSchema = Type.Array(
  Type.Object(
    {
      message: Type.String({ maxLength: MAX_TEXT }),
      property: Type.String({ maxLength: MAX_TEXT, description: 'Dotted path from the root of the body.' }),
      value: Type.Optional(
        Type.String({ maxLength: 100, description: 'Cut at 100 characters; absent for a secret.' }),
      ),
    },
    { title: 'Failed value' },
  ),
  { maxItems: 100_000 },
);

export const ERROR_SCHEMAS = {
  A: Type.Object(
    { id: RequestIdSchema, error: Type.String({ maxLength: MAX_TEXT }) },
    { title: 'Simple error' },
  ),
  B: Type.Object(
    {
      type: Type.String({ maxLength: MAX_URL }),
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
          {
            maxItems: 100_000,
          },
        ),
      ),
      maxBatchSize: Type.Optional(Type.Integer()),
      batchSize: Type.Optional(Type.Integer()),
    },
    { title: 'Validation problem' },
  ),
  C: Type.Object(
    {
      status: Type.Integer(),
      title: Type.String({ maxLength: MAX_TEXT }),
      type: Type.String({ maxLength: MAX_URL }),
      detail: Type.String({ maxLength: MAX_TEXT }),
      instance: RequestIdSchema,
      logId: RequestIdSchema,
    },
    { title: 'Group problem' },
  ),
  D: Type.Object(
    {
      detail: Type.String({ maxLength: MAX_TEXT }),
      id: RequestIdSchema,
      source: Type.String({
        maxLength: MAX_TEXT,
        description: 'The parameter or header at fault, or nothing.',
      }),
      status: Type.Integer(),
      title: Type.String({ maxLength: MAX_TEXT }),
    },
    { title: 'Port error' },
  ),
};

/**
 * The error responses of an operation.
 * @param area whose shapes they have
 * @param statuses the ones that this operation can answer beside those that every operation can; where the area has
 *   another one for them, that one
 * @param options `bodiless` are those that come without a body, `repeats` that a 409 may be the first request's that runs
 */
export function errorResponses(
  area: Area,
  statuses: readonly number[],
  { bodiless = [], repeats = false }: { bodiless?: readonly number[] | undefined; repeats?: boolean } = {},
) {
  const common = [401, 403, 404, 429, 500, 503];
  return Object.fromEntries(
    [...new Set([...common, ...statuses.map((status) => area.statusOverrides?.[status] ?? status)])]
      .sort((a, b) => a - b)
      .map((status) => {
        const description = STATUS_DESCRIPTIONS[status] ?? 'Error';
        if (bodiless.includes(status))
          return [status, { description: `${description} Without a body.`, type: 'null' }];
        const shape = area.errorBodyFormatOf(status);
        const headers = status === 409 && repeats ? { headers: { 'Retry-After': RetryAfterHeader } } : {};
        return [
          status,
          { description, ...headers, content: { [errorMediaType(shape)]: { schema: ERROR_SCHEMAS[shape] } } },
        ];
      }),
  );
}

const RetryAfterHeader = {
  type: 'integer',
  description: 'The seconds until the first request with this Idempotency-Key may be answered; else absent.',
};

const STATUS_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'Malformed: not JSON, or a value of the wrong type or in a bad parameter.',
  401: 'No valid credential.',
  403: 'The credential or the role does not allow it.',
  404: 'It does not exist, or is out of reach.',
  409: 'The change conflicts with what exists.',
  412: 'If-Match names another version than the one that is there.',
  413: 'The batch or the body is too large.',
  415: 'Content-Type is not application/json.',
  422: 'Of the right type and with a wrong value.',
  429: 'Too many requests. Retry-After says when to try again.',
  500: 'The server failed.',
  503: 'The service is unavailable. Retry-After says when to try again.',
};
