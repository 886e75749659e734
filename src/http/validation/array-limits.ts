import type { JsonSchema } from './map-schema.ts';
import { Problem } from '../problems.ts';

/** A body whose JSON types are valid but whose properties may all be missing. */
type PartiallyTyped<B> = B extends readonly (infer Item)[]
  ? readonly PartiallyTyped<Item>[]
  : B extends object
    ? { readonly [Name in keyof B]?: PartiallyTyped<B[Name]> }
    : B;

/** A limit on the total number of items in a body, in addition to those of its arrays. */
export interface TotalLimit<B> {
  max: number;
  /** What is counted, in the plural. */
  unit: string;
  /** The property to report. */
  source: string;
  count(body: PartiallyTyped<B>): number;
}

/** An array whose maximum length has an error of its own (413). */
export interface ArrayLimit {
  /** From the root of the body; `*` matches every item. */
  path: readonly string[];
  max: number;
}

/**
 * Returns the arrays that are batches: the body itself, those on its first level, and deeper ones marked `x-batch`.
 * Other arrays that are too long are invalid values.
 */
export function arrayLimitsOf(schema: JsonSchema): ArrayLimit[] {
  const { items, maxItems: max } = schema as { items?: JsonSchema; maxItems?: number };
  if (items === undefined) return arrayLimitsBelow(schema, []);
  return [...(max === undefined ? [] : [{ path: [], max }]), ...arrayLimitsBelow(items, ['*'])];
}

function arrayLimitsBelow(schema: JsonSchema, path: readonly string[]): ArrayLimit[] {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema & { maxItems?: number }>;
  return Object.entries(properties).flatMap(([name, property]) => {
    const { maxItems: max, items } = property;
    const here = [...path, name];
    const isBatch = max !== undefined && (path.length === 0 || property['x-batch'] === true);
    return [
      ...(isBatch ? [{ path: here, max }] : []),
      ...(items === undefined ? [] : arrayLimitsBelow(items as JsonSchema, [...here, '*'])),
    ];
  });
}

/** Returns the dotted path and length of the first array over the limit. The JSON types of the body must be valid. */
export function findOverLimit(
  value: unknown,
  { path, max }: ArrayLimit,
  dotted = '',
): [string, number] | undefined {
  const [name, ...rest] = path;
  if (name === undefined) {
    const { length } = value as unknown[];
    return length > max ? [dotted, length] : undefined;
  }
  if (name === '*') {
    for (const [index, item] of (value as unknown[]).entries()) {
      const found = findOverLimit(
        item,
        { path: rest, max },
        dotted === '' ? `${index}` : `${dotted}.${index}`,
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const next = (value as Record<string, unknown>)[name];
  return next === undefined
    ? undefined
    : findOverLimit(next, { path: rest, max }, dotted === '' ? name : `${dotted}.${name}`);
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
