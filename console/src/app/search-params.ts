// The router parses search parameters as JSON: digits are a number, and a list may be a single value.

type Defined<Params> = { [Name in keyof Params]?: Exclude<Params[Name], undefined> };

export function omitUndefined<Params extends object>(params: Params): Defined<Params> {
  return Object.fromEntries(
    Object.entries(params).filter(([, value]) => value !== undefined),
  ) as Defined<Params>;
}

const listOf = (value: unknown): unknown[] => (value === undefined ? [] : [value].flat());
const unlessEmpty = <Value>(values: Value[]): Value[] | undefined =>
  values.length === 0 ? undefined : values;

/** @returns the text; undefined if it is empty or has another type */
export const parseText = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

/** @returns the values as texts; undefined if there are none */
export const parseTexts = (value: unknown): string[] | undefined => unlessEmpty(listOf(value).map(String));

/** @returns the integers among the values; undefined if there are none */
export const parseIntegers = (value: unknown): number[] | undefined =>
  unlessEmpty(listOf(value).map(Number).filter(Number.isInteger));

/** @returns the values that an enum has; undefined if there are none */
export const parseEnum = <Value extends string>(
  value: unknown,
  allowed: readonly Value[],
): Value[] | undefined =>
  unlessEmpty(listOf(value).filter((one): one is Value => allowed.includes(one as Value)));

/** @returns the values of a parameter, as the filter bar shows them */
export const filterValues = (params: object, name: string): string[] =>
  listOf((params as Record<string, unknown>)[name]).map(String);
