import { type TSchema, Type } from 'typebox';
import type { Chosen, Filter, FilterKind, Filters, FilterValues } from '../../domain/lists/filters.ts';
import { isDay, momentOf } from '../../domain/shared/time.ts';
import { NULL_IS_WRONG } from '../validation/drop-nulls.ts';
import { Problem } from '../problems.ts';

/** How an area writes the query of a list. */
export interface ListStyle {
  /** @returns the name of a filter's parameter */
  filter(name: string, many: boolean): string;
  /** @returns the name of a field or an order */
  field(name: string): string;
  page: string;
  size: string;
  after: string;
  sizes: { usual: number; largest: number };
  /** Whether a larger size is cut to the largest, and not refused. */
  cuts: boolean;
  /** Whether a direction has a parameter of its own, and no hyphen before the order. */
  direction: boolean;
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** docs/companions.md, section 1. */
export const LIST_STYLES = {
  v1: {
    filter: (name, many) => `filter[${snakeCase(name)}]${many ? '[]' : ''}`,
    field: snakeCase,
    page: 'page[number]',
    size: 'page[size]',
    after: 'page[after]',
    sizes: { usual: 50, largest: 200 },
    cuts: true,
    direction: false,
  },
  flat: {
    filter: (name, many) => name + (many ? '[]' : ''),
    field: (name) => name,
    page: 'page',
    size: 'perPage',
    after: 'page[after]',
    sizes: { usual: 100, largest: 5_000 },
    cuts: false,
    direction: true,
  },
} as const satisfies Record<string, ListStyle>;

/** What the description says of a filter, and its parameter where that has a name of its own. */
export type FilterWords = string | { description: string; parameter: string };

interface Parameter {
  filter: string;
  schema: TSchema;
  /** What the filter's value is where the query has none. */
  usual: unknown;
  /** @returns the filter's value, from what the schema let in */
  read(value: unknown, source: string): unknown;
}

/** The parameters of a list's filters, by their names in the query. */
export type FilterParameters = ReadonlyMap<string, Parameter>;

export function filterParameters(
  style: ListStyle,
  filters: Filters,
  words: Readonly<Record<string, FilterWords | undefined>>,
): FilterParameters {
  const named = Object.entries(words).flatMap(([name, word]): [string, Parameter][] => {
    const filter = filters[name] as Filter | undefined;
    if (filter === undefined || word === undefined) return [];
    const many = filter.kind === 'integers' || filter.kind === 'texts';
    const { description, parameter } =
      typeof word === 'string' ? { description: word, parameter: style.filter(name, many) } : word;
    const one = KINDS[filter.kind](filter);
    const listed = many && parameter.endsWith('[]');
    const schema = listed
      ? Type.Array(Type.Unsafe(one.schema), { maxItems: MAX_VALUES, description })
      : Type.Unsafe({
          ...one.schema,
          ...(filter.usual === undefined ? {} : { default: filter.usual }),
          description,
        });
    const read = one.read ?? ((value: unknown) => value);
    return [
      [
        parameter,
        {
          filter: name,
          schema,
          usual: filter.usual,
          read: (value, source) => read(many ? [value].flat() : value, source),
        },
      ],
    ];
  });
  return new Map(named);
}

const MAX_VALUES = 1_000;
const MAX_VALUE = 2_048;
const MAX_SEARCH = 255;

interface KindOfParameter {
  schema: TSchema;
  read?: (value: unknown, source: string) => unknown;
}

const KINDS: { readonly [K in FilterKind]: (filter: Filter) => KindOfParameter } = {
  integers: () => ({
    schema: Type.Integer(),
    // What no row can have matches nothing, and neither database is asked for it.
    read: (values) => (values as FilterValues['integers']).filter((value) => Number.isSafeInteger(value)),
  }),
  texts: ({ oneOf, pattern, form }) => ({
    schema:
      oneOf === undefined
        ? Type.String({
            maxLength: MAX_VALUE,
            ...(pattern === undefined ? {} : { pattern }),
            ...(form === undefined ? {} : { examples: [form.example] }),
          })
        : Type.Enum([...oneOf], { type: 'string' }),
    read(values, source) {
      const texts = values as FilterValues['texts'];
      const wrong = form && texts.find((text) => !form.isOne(text));
      if (wrong !== undefined) throw wrongValue(source, form?.message ?? '', wrong);
      return texts.filter(isStorable);
    },
  }),
  flag: () => ({ schema: Type.Boolean() }),
  moment: () => ({
    schema: Type.String({ format: 'date-time', maxLength: 64, examples: ['2026-11-21T10:30:00Z'] }),
    read: (value, source) => readMoment(value as string, source),
  }),
  day: () => ({
    schema: Type.String({ format: 'date', maxLength: 10, examples: ['2026-11-21'] }),
    read: (value, source) => readDay(value as string, source),
  }),
  count: () => ({ schema: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) }),
  search: () => ({
    schema: Type.String({ maxLength: MAX_SEARCH }),
    read(value, source) {
      if (isStorable(value as string)) return value;
      throw wrongValue(source, 'must not contain a NUL character or half of a surrogate pair', value);
    },
  }),
};

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

/** @returns milliseconds since 1970, of a moment that the source names */
function readMoment(text: string, source: string): number {
  const moment = momentOf(text);
  if (moment !== undefined) return moment;
  throw wrongValue(source, 'must be a date and time such as 2026-11-21T10:30:00Z', text);
}

function readDay(text: string, source: string): string {
  if (isDay(text)) return text;
  throw wrongValue(source, 'must be a date such as 2026-11-21', text);
}

function wrongValue(source: string, message: string, value: unknown): Problem {
  return new Problem('invalid-request', `${source} ${message}.`, {
    source,
    faults: [{ property: source, message, value }],
  });
}

/** @returns the filters that a query has chosen */
export function readFilters(
  parameters: FilterParameters,
  query: Readonly<Record<string, unknown>>,
): Chosen<Filters> {
  const chosen: Record<string, unknown> = {};
  for (const [name, { filter, usual, read }] of parameters) {
    if (query[name] !== undefined) chosen[filter] = read(query[name], name);
    else if (usual !== undefined) chosen[filter] = usual;
  }
  return chosen as Chosen<Filters>;
}

/** The filters of a list as members of a body. */
export interface FilterMembers<F extends Filters> {
  schema: Type.TUnsafe<Readonly<Record<string, unknown>>>;
  /**
   * @param property at which they stand
   * @throws Problem `validation-failed` for a value of the right type and a wrong form
   */
  read(body: Readonly<Record<string, unknown>>, property: string): Chosen<F>;
}

/**
 * The same filters for a body that changes what they find: by the names of the parameters in a style with brackets, but
 * without these. Nothing may be unknown, empty or `null`, so that no slip finds more than was meant; what only says how
 * rows are told is none of them.
 */
export function filterMembers<F extends Filters>(
  filters: F,
  words: Readonly<Record<string, FilterWords | undefined>>,
  options: { title: string },
): FilterMembers<F> {
  const narrowing = Object.fromEntries(
    Object.entries(words).filter(([name]) => (filters[name] as Filter | undefined)?.where !== undefined),
  );
  const parameters = [...filterParameters(LIST_STYLES.v1, filters, narrowing)].map(
    ([parameter, rest]) => [/^filter\[(\w+)\]/.exec(parameter)?.[1] ?? parameter, rest] as const,
  );
  return {
    schema: Type.Unsafe<Readonly<Record<string, unknown>>>(
      Type.Object(
        Object.fromEntries(parameters.map(([name, { schema }]) => [name, Type.Optional(notEmpty(schema))])),
        { ...options, additionalProperties: false, minProperties: 1, [NULL_IS_WRONG]: true },
      ),
    ),
    read(body, property) {
      const chosen: Record<string, unknown> = {};
      for (const [name, { filter, read }] of parameters) {
        if (body[name] === undefined) continue;
        try {
          chosen[filter] = read(body[name], `${property}.${name}`);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          throw new Problem('validation-failed', error.message, error.details);
        }
      }
      return chosen as Chosen<F>;
    },
  };
}

function notEmpty(schema: TSchema): TSchema {
  const { type, items } = schema as { type?: string; items?: TSchema };
  if (type === 'array') return Type.Unsafe({ ...schema, minItems: 1, items: notEmpty(items as TSchema) });
  return type === 'string' ? Type.Unsafe({ minLength: 1, ...schema }) : schema;
}

/** @returns the parameters that choose an order */
export function orderParameters<O extends string>(
  style: ListStyle,
  usual: { order: O; descending?: boolean },
  sortable: readonly O[],
): Record<string, TSchema> {
  if (sortable.length === 0) return {};
  const names = sortable.map((order) => style.field(order));
  const ties = 'Ties are broken by id, ascending; what is unknown comes last in both directions.';
  if (style.direction) {
    return {
      sort: Type.Optional(
        Type.Enum(names, { type: 'string', default: style.field(usual.order), description: ties }),
      ),
      sortDir: Type.Optional(
        Type.Enum(['asc', 'desc'], { type: 'string', default: usual.descending === true ? 'desc' : 'asc' }),
      ),
    };
  }
  return {
    sort: Type.Optional(
      Type.Enum([...names, ...names.map((name) => `-${name}`)], {
        type: 'string',
        default: `${usual.descending === true ? '-' : ''}${style.field(usual.order)}`,
        description: `A hyphen before it descends. ${ties}`,
      }),
    ),
  };
}

/** @returns the order that a query has chosen, or the usual one */
export function readOrder<O extends string>(
  style: ListStyle,
  usual: { order: O; descending?: boolean },
  sortable: readonly O[],
  query: Readonly<Record<string, unknown>>,
): { order: O; descending: boolean } {
  const { order: usualOrder, descending: usuallyDescends = false } = usual;
  const { sort, sortDir } = query as { sort?: string; sortDir?: string };
  const name = sort?.replace(/^-/, '');
  const order = sortable.find((one) => style.field(one) === name) ?? usualOrder;
  if (style.direction)
    return { order, descending: sortDir === undefined ? usuallyDescends : sortDir === 'desc' };
  return { order, descending: sort === undefined ? usuallyDescends : sort.startsWith('-') };
}
