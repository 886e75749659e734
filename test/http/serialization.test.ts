import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type JsonSchema, mapSchema } from '../../src/http/validation/map-schema.ts';

interface DescribedResponse {
  content?: Record<string, { schema?: JsonSchema }>;
}
interface Description {
  paths: Record<string, Record<string, { responses?: Record<string, DescribedResponse> }>>;
  components: { schemas: Record<string, JsonSchema> };
}

const { paths, components } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8'),
) as Description;

/** The schemas of all responses and those that they reference. */
function answered(): JsonSchema[] {
  const found = new Set<JsonSchema>();
  const referred = (schema: JsonSchema): JsonSchema => {
    const one = components.schemas[String(schema['$ref']).replace('#/components/schemas/', '')];
    if (one !== undefined && !found.has(one)) {
      found.add(one);
      mapSchema(one, referred);
    }
    return schema;
  };
  const direct = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ responses = {} }) => Object.values(responses))
    .map(({ content }) => content?.['application/json']?.schema)
    .filter((schema) => schema !== undefined);
  for (const schema of direct) mapSchema(schema, referred);
  return [...direct, ...found];
}

it('Response schemas contain no unions except an object or null, and an object or an array, which are serialized without Ajv', () => {
  const seen = { null: 0, array: 0 };
  const others: unknown[] = [];
  for (const schema of answered()) {
    const { anyOf, ...rest } = schema;
    const isEither = (anyOf as JsonSchema[] | undefined)?.[1]?.['type'] === 'array';
    if (isEither) seen.array += 1;
    mapSchema(isEither ? rest : schema, (one) => {
      const forms = (one['anyOf'] ?? one['oneOf'] ?? one['allOf']) as JsonSchema[] | undefined;
      if (forms?.length === 2 && forms[1]?.['type'] === 'null') seen.null += 1;
      else if (forms !== undefined) others.push(forms);
      return one;
    });
  }
  expect(others).toEqual([]);
  expect(seen.null).toBeGreaterThan(5);
  expect(seen.array).toBe(1);
});
