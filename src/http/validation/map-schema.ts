export type JsonSchema = Readonly<Record<string, unknown>>;

const VALUE_KEYWORDS: ReadonlySet<string> = new Set(
  [
    '$ref type enum const default required format pattern',
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
    'minLength maxLength minItems maxItems uniqueItems minProperties maxProperties',
    'title description examples deprecated x-batch x-described x-unknown-id x-null-is-wrong',
  ].flatMap((names) => names.split(' ')),
);
/** Keywords whose value is a schema, a map of schemas, or a list of schemas. */
const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not']);
const SCHEMA_MAP_KEYWORDS: ReadonlySet<string> = new Set(['properties', 'patternProperties']);
const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf']);

/**
 * Maps a schema and its subschemas, the inner ones first.
 * @throws Error for an unknown keyword, which would otherwise be ignored silently
 */
export function mapSchema(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const inner = (value: unknown) =>
    typeof value === 'boolean' ? value : mapSchema(value as JsonSchema, change);
  const mapped: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (VALUE_KEYWORDS.has(keyword)) mapped[keyword] = value;
    else if (SCHEMA_KEYWORDS.has(keyword)) mapped[keyword] = inner(value);
    else if (SCHEMA_LIST_KEYWORDS.has(keyword)) mapped[keyword] = (value as unknown[]).map(inner);
    else if (SCHEMA_MAP_KEYWORDS.has(keyword)) {
      mapped[keyword] = Object.fromEntries(
        Object.entries(value as object).map(([name, property]) => [name, inner(property)]),
      );
    } else throw new Error(`mapSchema does not know the schema keyword ${keyword}.`);
  }
  return change(mapped);
}

export function schemaAlternatives(schema: JsonSchema): JsonSchema[] {
  const { anyOf, oneOf } = schema as { anyOf?: JsonSchema[]; oneOf?: JsonSchema[] };
  return [schema, ...(anyOf ?? oneOf ?? []).flatMap(schemaAlternatives)];
}
