/** A JSON Schema as it stands in the API description. */
export interface DescribedSchema {
  $ref?: string;
  title?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  default?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  minimum?: number;
  maxItems?: number;
  properties?: Record<string, DescribedSchema>;
  required?: string[];
  items?: DescribedSchema;
  anyOf?: DescribedSchema[];
  oneOf?: DescribedSchema[];
}

/** A text whose schema gives no example; the test of the description finds it. */
export const FALLBACK_EXAMPLE = 'text';

/** @returns a value that the schema allows, made of the examples that it and its parts carry */
export function exampleOf(schema: DescribedSchema): unknown {
  const given = [...(schema.examples ?? []), schema.const, schema.default, ...(schema.enum ?? [])];
  const first = given.find((value) => value !== undefined);
  if (first !== undefined) return first;
  const choice = (schema.anyOf ?? schema.oneOf)?.[0];
  if (choice !== undefined) return exampleOf(choice);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, exampleOf(property)]),
      );
    case 'array':
      return schema.items === undefined || schema.maxItems === 0 ? [] : [exampleOf(schema.items)];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'string':
      return FALLBACK_EXAMPLE;
    default:
      return null;
  }
}
