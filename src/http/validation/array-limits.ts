import type { JsonSchema } from './map-schema.ts';
import { Problem } from '../problems.ts';

/** A body of the right JSON types of which nothing else is known: anything may be missing. */
type PartiallyTyped<B> = B extends readonly (infer Item)[]
  ? readonly PartiallyTyped<Item>[]
  : B extends object
    ? { readonly [Name in keyof B]?: PartiallyTyped<B[Name]> }
    : B;

/** How many of something a body may name in all, beside what each of its arrays may hold. */
export interface TotalLimit<B> {
  max: number;
  /** What is counted, in the plural. */
  unit: string;
  /** The property at fault. */
  source: string;
  count(body: PartiallyTyped<B>): number;
}

/** An array whose length has an answer of its own. */
export interface ArrayLimit {
  /** From the root of the body; `*` stands for every item. */
  path: readonly string[];
  max: number;
}

/**
 * The arrays of a body that are batches: itself, those on its first level, and deeper ones that say so with `x-batch`.
 * The limit of any other array is like that of a text.
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

/** @returns the first array at the path, dotted, that is longer than the limit; the body has the right types */
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

/** @returns what is wrong when a body, which has the right types, names more than it may in all */
export function findOverTotal(
  body: unknown,
  { max, unit, source, count }: TotalLimit<unknown>,
): Problem | undefined {
  const size = count(body);
  if (size <= max) return undefined;
  const message = `The request has ${size} ${unit}; at most ${max} are taken at once.`;
  return new Problem('batch-too-large', message, { batch: { max, size }, source });
}
