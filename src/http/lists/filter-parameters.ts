import { type TSchema, Type } from 'typebox';
import type { FilterInput, Filter, FilterKind, Filters, FilterValues } from '../../domain/lists/filters.ts';
import { fieldErrorMessage } from '../../domain/shared/errors.ts';
import { isCalendarDate, parseTimestamp } from '../../domain/shared/time.ts';
import { NULL_NOT_ALLOWED } from '../validation/drop-nulls.ts';
import { Problem } from '../problems.ts';
import { PAGINATION_STYLES, type PaginationStyle } from './parameters.ts';

/** A description, with the parameter if its name does not follow from the filter. */
export type FilterDescription = string | { description: string; parameter: string };

interface FilterParameter {
  filter: string;
  schema: TSchema;
  /** The value of the filter without the parameter. */
  default: unknown;
  parse(value: unknown, source: string): unknown;
}

export type FilterParameters = ReadonlyMap<string, FilterParameter>;

export function filterParameters(
  style: PaginationStyle,
  filters: Filters,
  descriptions: Readonly<Record<string, FilterDescription | undefined>>,
): FilterParameters {
  const entries = Object.entries(descriptions).flatMap(([name, described]): [string, FilterParameter][] => {
    const filter = filters[name] as Filter | undefined;
    if (filter === undefined || described === undefined) return [];
    const hasManyValues = filter.kind === 'integers' || filter.kind === 'texts';
    const { description, parameter } =
      typeof described === 'string'
        ? { description: described, parameter: style.filterParameter(name, hasManyValues) }
        : described;
    const kind = PARAMETER_KINDS[filter.kind](filter);
    const isList = hasManyValues && parameter.endsWith('[]');
    const schema = isList
      ? Type.Array(Type.Unsafe(kind.schema), { maxItems: MAX_FILTER_VALUES, description })
      : Type.Unsafe({
          ...kind.schema,
          ...(filter.default === undefined ? {} : { default: filter.default }),
          description,
        });
    const parse = kind.parse ?? ((value: unknown) => value);
    return [
      [
        parameter,
        {
          filter: name,
          schema,
          default: filter.default,
          parse: (value, source) => parse(hasManyValues ? [value].flat() : value, source),
        },
      ],
    ];
  });
  return new Map(entries);
}

const MAX_FILTER_VALUES = 1_000;
const MAX_VALUE_LENGTH = 2_048;
const MAX_SEARCH_LENGTH = 255;

interface ParameterKind {
  schema: TSchema;
  parse?: (value: unknown, source: string) => unknown;
}

const PARAMETER_KINDS: { readonly [K in FilterKind]: (filter: Filter) => ParameterKind } = {
  integers: () => ({
    schema: Type.Integer(),
    // Unsafe integers match no row, so the database is not queried for them.
    parse: (values) => (values as FilterValues['integers']).filter((value) => Number.isSafeInteger(value)),
  }),
  texts: ({ oneOf, pattern, custom }) => ({
    schema:
      oneOf === undefined
        ? Type.String({
            maxLength: MAX_VALUE_LENGTH,
            ...(pattern === undefined ? {} : { pattern }),
            ...(custom === undefined ? {} : { examples: [custom.example] }),
          })
        : Type.Enum([...oneOf], { type: 'string' }),
    parse(values, source) {
      const texts = values as FilterValues['texts'];
      const invalid = custom && texts.find((text) => !custom.accepts(text));
      if (custom !== undefined && invalid !== undefined)
        throw invalidParameter(source, fieldErrorMessage(custom.problem), invalid);
      return texts.filter(isStorable);
    },
  }),
  flag: () => ({ schema: Type.Boolean() }),
  moment: () => ({
    schema: Type.String({ format: 'date-time', maxLength: 64, examples: ['2026-11-21T10:30:00Z'] }),
    parse: (value, source) => parseTimestampParameter(value as string, source),
  }),
  day: () => ({
    schema: Type.String({ format: 'date', maxLength: 10, examples: ['2026-11-21'] }),
    parse: (value, source) => parseDateParameter(value as string, source),
  }),
  count: () => ({ schema: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) }),
  search: () => ({
    schema: Type.String({ maxLength: MAX_SEARCH_LENGTH }),
    parse(value, source) {
      if (isStorable(value as string)) return value;
      throw invalidParameter(source, 'must not contain a NUL character or half of a surrogate pair', value);
    },
  }),
};

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

/** @returns milliseconds since 1970 */
function parseTimestampParameter(text: string, source: string): number {
  const time = parseTimestamp(text);
  if (time !== undefined) return time;
  throw invalidParameter(source, 'must be a date and time, for example 2026-11-21T10:30:00Z', text);
}

function parseDateParameter(text: string, source: string): string {
  if (isCalendarDate(text)) return text;
  throw invalidParameter(source, 'must be a date, for example 2026-11-21', text);
}

function invalidParameter(source: string, message: string, value: unknown): Problem {
  return new Problem('invalid-request', `${source} ${message}.`, {
    source,
    fieldErrors: [{ property: source, message, value }],
  });
}

export function parseFilters(
  parameters: FilterParameters,
  query: Readonly<Record<string, unknown>>,
): FilterInput<Filters> {
  const values: Record<string, unknown> = {};
  for (const [name, { filter, default: defaultValue, parse }] of parameters) {
    if (query[name] !== undefined) values[filter] = parse(query[name], name);
    else if (defaultValue !== undefined) values[filter] = defaultValue;
  }
  return values as FilterInput<Filters>;
}

export interface FilterBody<F extends Filters> {
  schema: Type.TUnsafe<Readonly<Record<string, unknown>>>;
  /**
   * @param property path of the filters in the body
   * @throws Problem `validation-failed` for a value of the right type in a wrong format
   */
  parse(body: Readonly<Record<string, unknown>>, property: string): FilterInput<F>;
}

/**
 * Filters for a body that selects what to change, named as the bracketed parameters without brackets. Rejects
 * unknown, empty and `null` properties, so that a mistake cannot select more than intended. Excludes filters that
 * only affect how rows are presented.
 */
export function filterBodySchema<F extends Filters>(
  filters: F,
  descriptions: Readonly<Record<string, FilterDescription | undefined>>,
  options: { title: string },
): FilterBody<F> {
  const narrowing = Object.fromEntries(
    Object.entries(descriptions).filter(
      ([name]) => (filters[name] as Filter | undefined)?.where !== undefined,
    ),
  );
  const parameters = [...filterParameters(PAGINATION_STYLES.v1, filters, narrowing)].map(
    ([parameter, rest]) => [/^filter\[(\w+)\]/.exec(parameter)?.[1] ?? parameter, rest] as const,
  );
  return {
    schema: Type.Unsafe<Readonly<Record<string, unknown>>>(
      Type.Object(
        Object.fromEntries(
          parameters.map(([name, { schema }]) => [name, Type.Optional(requireNonEmpty(schema))]),
        ),
        { ...options, additionalProperties: false, minProperties: 1, [NULL_NOT_ALLOWED]: true },
      ),
    ),
    parse(body, property) {
      const values: Record<string, unknown> = {};
      for (const [name, { filter, parse }] of parameters) {
        if (body[name] === undefined) continue;
        try {
          values[filter] = parse(body[name], `${property}.${name}`);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          throw new Problem('validation-failed', error.message, error.details);
        }
      }
      return values as FilterInput<F>;
    },
  };
}

function requireNonEmpty(schema: TSchema): TSchema {
  const { type, items } = schema as { type?: string; items?: TSchema };
  if (type === 'array')
    return Type.Unsafe({ ...schema, minItems: 1, items: requireNonEmpty(items as TSchema) });
  return type === 'string' ? Type.Unsafe({ minLength: 1, ...schema }) : schema;
}
