import type { PartialInput } from '../../domain/shared/partial-input.ts';
import type { JsonSchema } from './map-schema.ts';
import { Problem } from '../problems.ts';

/** A limit on the total number of items in a body, in addition to those of its arrays. */
export interface TotalLimit<B> {
  max: number;
  /** What is counted, in the plural. */
  unit: string;
  /** The property to report. */
  source: string;
  /** @param body of valid JSON types */
  count(body: PartialInput<B>): number;
}

/** An array whose maximum length has an error of its own (413). */
export interface ArrayLimit {
  /** From the root of the body; `*` matches every item. */
  path: readonly string[];
  max: number;
}

/** On an array: `false` if one that is too long is an invalid value (422) and not an oversized batch (413). */
export const BATCH = 'x-batch';

/** Returns the arrays of a body with a maximum length, at any depth. */
export function arrayLimitsOf(schema: JsonSchema, path: readonly string[] = []): ArrayLimit[] {
  const {
    items,
    maxItems: max,
    properties = {},
    anyOf = [],
  } = schema as {
    items?: JsonSchema;
    maxItems?: number;
    properties?: Record<string, JsonSchema>;
    anyOf?: JsonSchema[];
  };
  return [
    ...(max === undefined || schema[BATCH] === false ? [] : [{ path, max }]),
    ...(items === undefined ? [] : arrayLimitsOf(items, [...path, '*'])),
    ...Object.entries(properties).flatMap(([name, property]) => arrayLimitsOf(property, [...path, name])),
    ...anyOf.flatMap((choice) => arrayLimitsOf(choice, path)),
  ];
}

/** Returns the error if an array of a body exceeds its limit. */
export function findOverLimits(body: unknown, limits: readonly ArrayLimit[]): Problem | undefined {
  for (const limit of limits) {
    const found = findOverLimit(body, limit);
    if (found === undefined) continue;
    const [source, size] = found;
    const { max } = limit;
    const message = `${source || 'The body'} has ${size} items; the maximum is ${max}.`;
    return new Problem('batch-too-large', message, { batch: { max, size }, source });
  }
  return undefined;
}

/** Returns the dotted path and length of the first array over the limit. */
function findOverLimit(value: unknown, { path, max }: ArrayLimit, dotted = ''): [string, number] | undefined {
  // Absent, or of another alternative.
  if (typeof value !== 'object' || value === null) return undefined;
  const [name, ...rest] = path;
  const below = (key: string | number) => (dotted === '' ? `${key}` : `${dotted}.${key}`);
  if (name === undefined)
    return Array.isArray(value) && value.length > max ? [dotted, value.length] : undefined;
  if (name !== '*')
    return findOverLimit((value as Record<string, unknown>)[name], { path: rest, max }, below(name));
  if (!Array.isArray(value)) return undefined;
  for (const [index, item] of value.entries()) {
    const found = findOverLimit(item, { path: rest, max }, below(index));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the error if a body exceeds its total limit. The JSON types of the body must be valid. */
export function findOverTotal(
  body: unknown,
  { max, unit, source, count }: TotalLimit<unknown>,
): Problem | undefined {
  const size = count(body);
  if (size <= max) return undefined;
  const message = `The request has ${size} ${unit}; the maximum is ${max}.`;
  return new Problem('batch-too-large', message, { batch: { max, size }, source });
}
