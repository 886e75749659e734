import { DESCRIBED } from '../schemas.ts';
import type { JsonSchema } from '../validation/map-schema.ts';

/**
 * Turns a schema of the server into the one that the API description has: the validator names the failing member by
 * schemas of several types, which generators of clients do not understand. They also fail over limits of files and of
 * enumerations, and over enumerations that contain null.
 */
export function toDescribedSchema(schema: JsonSchema): JsonSchema {
  const { [DESCRIBED]: rules, ...own } = schema;
  return splitTypes(withoutLimits({ ...own, ...(rules as JsonSchema | undefined) }));
}

function withoutLimits(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema['enum']) && schema['format'] !== 'binary') return schema;
  const { minLength: _shortest, maxLength: _longest, ...unlimited } = schema;
  return unlimited;
}

/** Splits an enumeration that may be null, and an object that may be something else, into alternatives. */
function splitTypes(schema: JsonSchema): JsonSchema {
  const { type, enum: values, properties, required, title, description, examples, ...rest } = schema;
  if (!Array.isArray(type) || (values === undefined && properties === undefined)) return schema;
  const annotations = { description, examples };
  const anyOf = (type as string[]).map((one) => {
    if (one === 'null') return { type: one };
    if (one === 'object') return { type: one, properties, required, title };
    return { ...rest, type: one, enum: (values as unknown[] | undefined)?.filter((value) => value !== null) };
  });
  return { ...annotations, anyOf };
}
