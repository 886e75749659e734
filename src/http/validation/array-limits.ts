import type { PartialInput } from '../../domain/shared/partial-input.ts';
import type { JsonSchema } from './map-schema.ts';
import { Problem } from '../problems.ts';

/** A limit on the total number of items in a body, in addition to those of its arrays. */
export interface BodyItemLimit<B> {
  max: number;
  /** The counted items, in the plural. */
  unit: string;
  source: string;
  /** @param body a body in which the JSON types are valid */
  count(body: PartialInput<B>): number;
}

/** An array that returns 413 when it exceeds its maximum length. */
export interface ArrayLimit {
  /** The path from the root of the body; `*` matches every item. */
  path: readonly string[];
  max: number;
}

/** Set to `false` on an array: too many items are an invalid value (422), not an oversized batch (413). */
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
    const overLimit = findOverLimit(body, limit);
    if (overLimit === undefined) continue;
    const [keys, size] = overLimit;
    const source = keys.join('.');
    const { max } = limit;
    const message = `${source || 'The body'} has ${size} items; the maximum is ${max}.`;
    return new Problem('batch-too-large', message, { batch: { max, size }, source });
  }
  return undefined;
}

/** Returns the keys on the way to the first array over the limit, and its length. */
function findOverLimit(
  value: unknown,
  limit: ArrayLimit,
  depth = 0,
): [keys: (string | number)[], length: number] | undefined {
  // Absent, or of another alternative.
  if (typeof value !== 'object' || value === null) return undefined;
  const { path, max } = limit;
  const name = path[depth];
  if (name === undefined) return Array.isArray(value) && value.length > max ? [[], value.length] : undefined;
  const inside = (key: string | number, item: unknown) => {
    const overLimit = findOverLimit(item, limit, depth + 1);
    overLimit?.[0].unshift(key);
    return overLimit;
  };
  if (name !== '*') return inside(name, (value as Record<string, unknown>)[name]);
  if (!Array.isArray(value)) return undefined;
  for (let index = 0; index < value.length; index += 1) {
    const overLimit = inside(index, value[index]);
    if (overLimit !== undefined) return overLimit;
  }
  return undefined;
}

/** Returns the error if a body exceeds its total limit. The JSON types of the body must be valid. */
export function findOverTotal(
  body: unknown,
  { max, unit, source, count }: BodyItemLimit<unknown>,
): Problem | undefined {
  const size = count(body);
  if (size <= max) return undefined;
  const message = `The request has ${size} ${unit}; the maximum is ${max}.`;
  return new Problem('batch-too-large', message, { batch: { max, size }, source });
}
