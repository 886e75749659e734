import { type JsonSchema, schemaAlternatives } from './map-schema.ts';

/** Sorts errors by their place in a body: properties as its schema lists them, items by their index. */
export function sortByPosition<E extends { property: string }>(
  errors: readonly E[],
  schema: JsonSchema,
): E[] {
  return errors
    .map((error) => ({ error, position: positionOf(error.property, schema) }))
    .sort((one, other) => comparePositions(one.position, other.position))
    .map(({ error }) => error);
}

function positionOf(path: string, root: JsonSchema): number[] {
  let schemas = schemaAlternatives(root);
  return path.split('.').map((name) => {
    const items = schemas.flatMap(({ items: one }) => (one === undefined ? [] : [one as JsonSchema]));
    const isIndex = items.length > 0 && /^\d+$/.test(name);
    const parent = schemas.find(({ properties }) => Object.hasOwn(properties ?? {}, name));
    const properties = (parent?.['properties'] ?? {}) as Record<string, JsonSchema>;
    const member = properties[name];
    schemas = (isIndex ? items : member === undefined ? [] : [member]).flatMap(schemaAlternatives);
    if (isIndex) return Number(name);
    return member === undefined ? Number.MAX_SAFE_INTEGER : Object.keys(properties).indexOf(name);
  });
}

/** A parent precedes its members. */
function comparePositions(one: readonly number[], other: readonly number[]): number {
  for (const [index, place] of one.entries()) {
    const difference = place - (other[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}
