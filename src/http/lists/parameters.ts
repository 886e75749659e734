import { type TSchema, Type } from 'typebox';
import type { FilterInput, Filter, FilterKind, Filters, FilterValues } from '../../domain/lists/filters.ts';
import { describeFieldProblem } from '../../domain/shared/errors.ts';
import { isCalendarDate, parseTimestamp } from '../../domain/shared/time.ts';
import { NULL_NOT_ALLOWED } from '../validation/drop-nulls.ts';
import { Problem } from '../problems.ts';

/** How an area names the query parameters of its lists. */
export interface PaginationStyle {
  filterParameter(name: string, many: boolean): string;
  fieldName(name: string): string;
  pageParameter: string;
  sizeParameter: string;
  cursorParameter: string;
  pageSize: { default: number; max: number };
  /** Whether a size above the maximum is reduced to it instead of rejected. */
  clampsPageSize: boolean;
  /** Whether the sort direction has a parameter of its own, in place of a hyphen. */
  hasSortDirection: boolean;
  /** Whether one header describes the page, X-Pagination, in place of several. */
  combinesHeaders: boolean;
}

const toSnakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** docs/companions.md, section 1. */
export const PAGINATION_STYLES = {
  v1: {
    filterParameter: (name, many) => `filter[${toSnakeCase(name)}]${many ? '[]' : ''}`,
    fieldName: toSnakeCase,
    pageParameter: 'page[number]',
    sizeParameter: 'page[size]',
    cursorParameter: 'page[after]',
    pageSize: { default: 50, max: 200 },
    clampsPageSize: true,
    hasSortDirection: false,
    combinesHeaders: true,
  },
  flat: {
    filterParameter: (name, many) => name + (many ? '[]' : ''),
    fieldName: (name) => name,
    pageParameter: 'page',
    sizeParameter: 'perPage',
    cursorParameter: 'page[after]',
    pageSize: { default: 100, max: 5_000 },
    clampsPageSize: false,
    hasSortDirection: true,
    combinesHeaders: false,
  },
} as const satisfies Record<string, PaginationStyle>;

/** A description, with the parameter if its name does not follow from the filter. */
export type FilterDescription = string | { description: string; parameter: string };

interface FilterParameter {
  filter: string;
  schema: TSchema;
  /** The value of the filter without the parameter. */
  default: unknown;
  /** Converts a validated parameter to the value of the filter. */
  parse(value: unknown, source: string): unknown;
}

/** By parameter name. */
export type FilterParameters = ReadonlyMap<string, FilterParameter>;

export function filterParameters(
  style: PaginationStyle,
  filters: Filters,
  descriptions: Readonly<Record<string, FilterDescription | undefined>>,
): FilterParameters {
  const entries = Object.entries(descriptions).flatMap(([name, described]): [string, FilterParameter][] => {
    const filter = filters[name] as Filter | undefined;
    if (filter === undefined || described === undefined) return [];
    const many = filter.kind === 'integers' || filter.kind === 'texts';
    const { description, parameter } =
      typeof described === 'string'
        ? { description: described, parameter: style.filterParameter(name, many) }
        : described;
    const kind = PARAMETER_KINDS[filter.kind](filter);
    const isList = many && parameter.endsWith('[]');
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
          parse: (value, source) => parse(many ? [value].flat() : value, source),
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
        throw invalidParameter(source, describeFieldProblem(custom.problem), invalid);
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
  const chosen: Record<string, unknown> = {};
  for (const [name, { filter, default: defaultValue, parse }] of parameters) {
    if (query[name] !== undefined) chosen[filter] = parse(query[name], name);
    else if (defaultValue !== undefined) chosen[filter] = defaultValue;
  }
  return chosen as FilterInput<Filters>;
}

/** The filters of a list as properties of a body. */
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
      const chosen: Record<string, unknown> = {};
      for (const [name, { filter, parse }] of parameters) {
        if (body[name] === undefined) continue;
        try {
          chosen[filter] = parse(body[name], `${property}.${name}`);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          throw new Problem('validation-failed', error.message, error.details);
        }
      }
      return chosen as FilterInput<F>;
    },
  };
}

function requireNonEmpty(schema: TSchema): TSchema {
  const { type, items } = schema as { type?: string; items?: TSchema };
  if (type === 'array')
    return Type.Unsafe({ ...schema, minItems: 1, items: requireNonEmpty(items as TSchema) });
  return type === 'string' ? Type.Unsafe({ minLength: 1, ...schema }) : schema;
}

export function sortParameters<O extends string>(
  style: PaginationStyle,
  defaultSort: { sort: O; descending?: boolean },
  sorts: readonly O[],
): Record<string, TSchema> {
  if (sorts.length === 0) return {};
  const names = sorts.map((sort) => style.fieldName(sort));
  const ties = 'Ties are broken by id, ascending; null values come last in both directions.';
  if (style.hasSortDirection) {
    return {
      sort: Type.Optional(
        Type.Enum(names, { type: 'string', default: style.fieldName(defaultSort.sort), description: ties }),
      ),
      sortDir: Type.Optional(
        Type.Enum(['asc', 'desc'], {
          type: 'string',
          default: defaultSort.descending === true ? 'desc' : 'asc',
        }),
      ),
    };
  }
  return {
    sort: Type.Optional(
      Type.Enum([...names, ...names.map((name) => `-${name}`)], {
        type: 'string',
        default: `${defaultSort.descending === true ? '-' : ''}${style.fieldName(defaultSort.sort)}`,
        description: `A leading hyphen sorts in descending order. ${ties}`,
      }),
    ),
  };
}

export function parseSort<O extends string>(
  style: PaginationStyle,
  defaultSort: { sort: O; descending?: boolean },
  sorts: readonly O[],
  query: Readonly<Record<string, unknown>>,
): { sort: O; descending: boolean } {
  const { descending: isDescending = false } = defaultSort;
  const { sort: text, sortDir } = query as { sort?: string; sortDir?: string };
  const name = text?.replace(/^-/, '');
  const sort = sorts.find((one) => style.fieldName(one) === name) ?? defaultSort.sort;
  if (style.hasSortDirection)
    return { sort, descending: sortDir === undefined ? isDescending : sortDir === 'desc' };
  return { sort, descending: text === undefined ? isDescending : text.startsWith('-') };
}

/** Schema of the parameter `fields`. */
export function fieldsParameter(columns: readonly string[], always: string): TSchema {
  return Type.Optional(
    Type.String({
      maxLength: 2_048,
      description: `The fields of each row, separated by commas. ${always} is always included. One of: ${columns.join(', ')}.`,
    }),
  );
}

/**
 * @returns the selected fields in the order of the schema; `undefined` for all
 * @throws Problem `invalid-request` for an unknown field
 */
export function parseFields(
  value: unknown,
  columns: readonly string[],
  always: string | undefined,
): readonly string[] | undefined {
  if (typeof value !== 'string' || always === undefined) return undefined;
  const names = new Set(value.split(',').map((name) => name.trim()));
  names.delete('');
  const unknown = [...names].find((name) => !columns.includes(name));
  if (unknown !== undefined) {
    const message = `must be one of: ${columns.join(', ')}`;
    throw new Problem('invalid-request', `fields ${message}.`, {
      source: 'fields',
      fieldErrors: [{ property: 'fields', message, value: unknown }],
    });
  }
  return columns.filter((name) => name === always || names.has(name));
}

export function pickFields(row: object, names: readonly string[] | undefined): object {
  if (names === undefined) return row;
  const values = row as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
