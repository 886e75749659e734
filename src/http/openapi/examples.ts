/** A JSON Schema of the API description. */
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
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  properties?: Record<string, DescribedSchema>;
  required?: string[];
  items?: DescribedSchema;
  anyOf?: DescribedSchema[];
  oneOf?: DescribedSchema[];
}

/** Used for strings without an example. A test reports them. */
export const FALLBACK_EXAMPLE = 'text';

/** Returns an example value, built from the examples of the schema and its parts. */
export function exampleOf(schema: DescribedSchema): unknown {
  const declared = [...(schema.examples ?? []), schema.const, schema.default, ...(schema.enum ?? [])];
  const first = declared.find((value) => value !== undefined);
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
