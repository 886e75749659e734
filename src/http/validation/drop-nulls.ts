import { type JsonSchema, schemaAlternatives } from './map-schema.ts';

type NullDropper = (value: unknown) => void;

/**
 * Returns a function that drops `null` properties at any depth from bodies in which `null` counts as absent, unless the
 * schema allows `null` (docs/companions.md, section 1). It ignores values of the wrong type.
 */
export function createNullDropper(schema: JsonSchema): NullDropper {
  return buildNullDropper(schema) ?? (() => {});
}

/** On an object whose properties must not be `null`: there `null` is invalid and does not count as absent. */
export const NULL_NOT_ALLOWED = 'x-null-is-wrong';

function buildNullDropper(schema: JsonSchema): NullDropper | undefined {
  if (schema[NULL_NOT_ALLOWED] === true) return undefined;
  const choices = schemaAlternatives(schema);
  const members = new Map<string, { allowsNull: boolean; inner: NullDropper | undefined }>();
  const items: NullDropper[] = [];
  for (const choice of choices) {
    const { properties = {}, items: item } = choice as {
      properties?: Record<string, JsonSchema>;
      items?: JsonSchema;
    };
    for (const [name, property] of Object.entries(properties)) {
      const allowsNull = schemaAlternatives(property).some(({ type }) => [type].flat().includes('null'));
      members.set(name, { allowsNull, inner: buildNullDropper(property) });
    }
    const inner = item === undefined ? undefined : buildNullDropper(item);
    if (inner !== undefined) items.push(inner);
  }
  if (members.size === 0 && items.length === 0) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const inner of items) value.forEach(inner);
      return;
    }
    const object = value as Record<string, unknown>;
    for (const name of Object.keys(object)) {
      const member = members.get(name);
      if (member === undefined) continue;
      if (object[name] === null && !member.allowsNull) delete object[name];
      else member.inner?.(object[name]);
    }
  };
}
