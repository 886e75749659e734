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

function responseSchemas(): JsonSchema[] {
  const schemas = new Set<JsonSchema>();
  const referred = (schema: JsonSchema): JsonSchema => {
    const referenced = components.schemas[String(schema['$ref']).replace('#/components/schemas/', '')];
    if (referenced !== undefined && !schemas.has(referenced)) {
      schemas.add(referenced);
      mapSchema(referenced, referred);
    }
    return schema;
  };
  const direct = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ responses = {} }) => Object.values(responses))
    .map(({ content }) => content?.['application/json']?.schema)
    .filter((schema) => schema !== undefined);
  for (const schema of direct) mapSchema(schema, referred);
  return [...direct, ...schemas];
}

it('Response schemas contain no unions except an object or null, and an object or an array, which are serialized without Ajv', () => {
  const counts = { null: 0, array: 0 };
  const otherSchemas: unknown[] = [];
  for (const schema of responseSchemas()) {
    const { anyOf, ...rest } = schema;
    const isEither = (anyOf as JsonSchema[] | undefined)?.[1]?.['type'] === 'array';
    if (isEither) counts.array += 1;
    mapSchema(isEither ? rest : schema, (nested) => {
      const forms = (nested['anyOf'] ?? nested['oneOf'] ?? nested['allOf']) as JsonSchema[] | undefined;
      if (forms?.length === 2 && forms[1]?.['type'] === 'null') counts.null += 1;
      else if (forms !== undefined) otherSchemas.push(forms);
      return nested;
    });
  }
  expect(otherSchemas).toEqual([]);
  expect(counts.null).toBeGreaterThan(5);
  expect(counts.array).toBe(1);
});
