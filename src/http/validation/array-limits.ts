import type { JsonSchema } from './map-schema.ts';
import { Problem } from '../problems.ts';

/** A body of the right JSON types of which nothing else is known: anything may be missing. */
type Typed<B> = B extends readonly (infer Item)[]
  ? readonly Typed<Item>[]
  : B extends object
    ? { readonly [Name in keyof B]?: Typed<B[Name]> }
    : B;

/** How many of something a body may name in all, beside what each of its arrays may hold. */
export interface TotalLimit<B> {
  max: number;
  /** What is counted, in the plural. */
  things: string;
  /** The property at fault. */
  source: string;
  count(body: Typed<B>): number;
}

/** An array whose length has an answer of its own. */
export interface Batch {
  /** From the root of the body; `*` stands for every item. */
  path: readonly string[];
  max: number;
}

/**
 * The arrays of a body that are batches: itself, those on its first level, and deeper ones that say so with `x-batch`.
 * The limit of any other array is like that of a text.
 */
export function batchesOf(schema: JsonSchema): Batch[] {
  const { items, maxItems: max } = schema as { items?: JsonSchema; maxItems?: number };
  if (items === undefined) return batchesBelow(schema, []);
  return [...(max === undefined ? [] : [{ path: [], max }]), ...batchesBelow(items, ['*'])];
}

function batchesBelow(schema: JsonSchema, path: readonly string[]): Batch[] {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema & { maxItems?: number }>;
  return Object.entries(properties).flatMap(([name, property]) => {
    const { maxItems: max, items } = property;
    const here = [...path, name];
    const isBatch = max !== undefined && (path.length === 0 || property['x-batch'] === true);
    return [
      ...(isBatch ? [{ path: here, max }] : []),
      ...(items === undefined ? [] : batchesBelow(items as JsonSchema, [...here, '*'])),
    ];
  });
}

/** @returns the first array at the path, dotted, that is longer than the limit; the body has the right types */
export function findOversized(
  value: unknown,
  { path, max }: Batch,
  dotted = '',
): [string, number] | undefined {
  const [name, ...rest] = path;
  if (name === undefined) {
    const { length } = value as unknown[];
    return length > max ? [dotted, length] : undefined;
  }
  if (name === '*') {
    for (const [index, item] of (value as unknown[]).entries()) {
      const found = findOversized(
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
    : findOversized(next, { path: rest, max }, dotted === '' ? name : `${dotted}.${name}`);
}

/** @returns what is wrong when a body, which has the right types, names more than it may in all */
export function findTooMany(
  body: unknown,
  { max, things, source, count }: TotalLimit<unknown>,
): Problem | undefined {
  const size = count(body);
  if (size <= max) return undefined;
  const message = `The request has ${size} ${things}; at most ${max} are taken at once.`;
  return new Problem('batch-too-large', message, { batch: { max, size }, source });
}
