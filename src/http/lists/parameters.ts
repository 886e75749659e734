import { type TSchema, Type } from 'typebox';
import { Problem } from '../problems.ts';

/** How an area names the query parameters of its lists. */
export interface PaginationStyle {
  filterParameter(name: string, isList: boolean): string;
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
    filterParameter: (name, isList) => `filter[${toSnakeCase(name)}]${isList ? '[]' : ''}`,
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
    filterParameter: (name, isList) => name + (isList ? '[]' : ''),
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
  const sort = sorts.find((candidate) => style.fieldName(candidate) === name) ?? defaultSort.sort;
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

/** The layout of a CSV for people. */
export const SPREADSHEET = 'spreadsheet';

/** @param columns of the layout for spreadsheets */
export function layoutParameter(columns: readonly string[]): TSchema {
  return Type.Optional(
    Type.Enum(['full', SPREADSHEET], {
      type: 'string',
      default: 'full',
      description: `The columns of a CSV: every field, or for spreadsheets ${columns.join(', ')}, with names in place of ids and the items of a list joined by "; ". Does not apply to other formats, and not with \`fields\`.`,
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
