// The router parses search parameters as JSON: a value of digits arrives as a number, a list of one value as the value.

type Defined<Params> = { [Name in keyof Params]?: Exclude<Params[Name], undefined> };

export function omitUndefined<Params extends object>(params: Params): Defined<Params> {
  return Object.fromEntries(
    Object.entries(params).filter(([, value]) => value !== undefined),
  ) as Defined<Params>;
}

const toArray = (value: unknown): unknown[] => (value === undefined ? [] : [value].flat());
const undefinedIfEmpty = <Value>(values: Value[]): Value[] | undefined =>
  values.length === 0 ? undefined : values;

/** @returns the text; undefined if it is empty or has another type */
export const parseText = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

/** @returns the values as texts; undefined if there are none */
export const parseTexts = (value: unknown): string[] | undefined =>
  undefinedIfEmpty(toArray(value).map(String));

/** @returns the integers among the values; undefined if there are none */
export const parseIntegers = (value: unknown): number[] | undefined =>
  undefinedIfEmpty(toArray(value).map(Number).filter(Number.isInteger));

/** @returns the values that are allowed; undefined if there are none */
export const parseEnum = <Value extends string>(
  value: unknown,
  allowed: readonly Value[],
): Value[] | undefined =>
  undefinedIfEmpty(toArray(value).filter((item): item is Value => allowed.includes(item as Value)));

/** @returns the values of a parameter, as the filter bar shows them */
export const filterValues = (params: object, name: string): string[] =>
  toArray((params as Record<string, unknown>)[name]).map(String);
