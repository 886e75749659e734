import { type JsonSchema, mapSchema } from './map-schema.ts';
import { NULL_NOT_ALLOWED } from './drop-nulls.ts';

/**
 * Marks a path id that is accepted in any format. Its value replaces an invalid id and matches no row, so that an
 * invalid id returns the same error as an unknown one, with the same precedence.
 */
export const ALLOW_UNKNOWN_ID = 'x-unknown-id';

/** Memoizes by schema, because all apps of a process share the schemas. */
function memoizeSchema(change: (schema: JsonSchema) => JsonSchema): (schema: JsonSchema) => JsonSchema {
  const cache = new WeakMap<JsonSchema, JsonSchema>();
  return (schema) => {
    const derived = cache.get(schema) ?? change(schema);
    cache.set(schema, derived);
    return derived;
  };
}

/** Accepts any value for a lenient id. */
export const acceptingUnknownIds = memoizeSchema((schema) =>
  mapSchema(schema, (part) => (ALLOW_UNKNOWN_ID in part ? {} : part)),
);

/** Requires every text to be storable in both databases. */
export const withStorableText = memoizeSchema((schema) =>
  mapSchema(schema, (part) => (typesOf(part).includes('string') ? { ...part, storable: true } : part)),
);

/** Removes everything but the JSON types from a schema. */
export const typesOnly = memoizeSchema((schema) =>
  mapSchema(schema, (part) => {
    const { type, items, additionalProperties, anyOf, oneOf, allOf } = part;
    const properties = part['properties'] as Record<string, JsonSchema> | undefined;
    const types = {
      type: typeof type === 'string' ? toNumberType(type) : (type as string[] | undefined)?.map(toNumberType),
      items,
      properties: part[NULL_NOT_ALLOWED] === true ? allowNull(properties ?? {}) : properties,
      // An unknown property is an invalid value (422), not a wrong type (400).
      additionalProperties: typeof additionalProperties === 'boolean' ? undefined : additionalProperties,
      // Several alternatives may have one type.
      anyOf: anyOf ?? oneOf,
      allOf,
    };
    return Object.fromEntries(Object.entries(types).filter(([, value]) => value !== undefined));
  }),
);

const allowNull = (properties: Record<string, JsonSchema>) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      name,
      { ...property, type: [...typesOf(property), 'null'] },
    ]),
  );

/** An integer is a JSON number: 1.5 has the right type but the wrong value. */
const toNumberType = (type: string) => (type === 'integer' ? 'number' : type);

export const typesOf = ({ type }: JsonSchema): unknown[] => [type].flat();
