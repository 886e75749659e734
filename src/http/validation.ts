import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import type { Fault } from '../domain/failure.ts';
import { Problem } from './problems.ts';

type JsonSchema = Record<string, unknown>;
type Validated = { value: unknown } | { error: Problem };

/** Beyond this many array items, only the first wrong type is looked for: a hostile body may have a million. */
const MAX_ITEMS_SEARCHED = 20_000;

const first = newAjv({ allErrors: false });
const all = newAjv({ allErrors: true });

function newAjv(options: { allErrors: boolean }): Ajv {
  const ajv = new Ajv({ strict: false, verbose: true, validateFormats: false, ...options });
  ajv.addKeyword({
    keyword: 'storable',
    type: 'string',
    schema: false,
    validate: (text: string) => !text.includes('\0') && text.isWellFormed(),
    error: { message: 'must not contain a NUL character or half of a surrogate pair' },
  });
  return ajv;
}

/**
 * Fastify's validator compiler. Path and query values become numbers only where they are written as plain integers;
 * bodies are never converted and lose nothing. A failure is a `Problem` that tells malformed from invalid
 * (silences, section 4).
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) =>
  httpPart === 'body' ? bodyValidator(schema) : parameterValidator(schema);

function parameterValidator(schema: TSchema): (input: unknown) => Validated {
  const validate = all.compile(schema);
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {};
  const integers = Object.keys(properties).filter((name) => properties[name]?.type === 'integer');
  return (input) => {
    const values = { ...(input as Record<string, unknown>) };
    for (const name of integers) {
      const value = values[name];
      if (typeof value === 'string' && /^-?(0|[1-9]\d*)$/.test(value)) values[name] = Number(value);
    }
    if (validate(values)) return { value: values };
    const faults = faultsOf(validate);
    const [fault] = faults;
    return {
      error: new Problem('invalid-request', describe(faults), {
        faults,
        ...(fault === undefined ? {} : { source: fault.property }),
      }),
    };
  };
}

function bodyValidator(schema: TSchema): (input: unknown) => Validated {
  const storable = withStorableText(schema as JsonSchema);
  const valid = first.compile(storable);
  const types = typesOnly(schema as JsonSchema);
  const firstType = first.compile(types);
  const everyType = all.compile(types);
  const everyFault = all.compile(withoutCounts(storable));
  const batches = batchLimits(schema as JsonSchema);

  return (body) => {
    if (valid(body)) return { value: body };
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return { error: new Problem('invalid-request', 'The body must be a JSON object.') };
    }
    const search = countItems(body) > MAX_ITEMS_SEARCHED ? firstType : everyType;
    if (!search(body)) {
      const faults = faultsOf(search);
      return {
        error: new Problem('invalid-request', describe(faults), {
          faults,
          source: faults[0]?.property ?? '',
        }),
      };
    }
    for (const [property, max] of batches) {
      const size = (body as Record<string, unknown[] | undefined>)[property]?.length ?? 0;
      if (size > max) {
        const message = `${property} has ${size} items; at most ${max} are taken at once.`;
        return { error: new Problem('batch-too-large', message, { batch: { max, size }, source: property }) };
      }
    }
    everyFault(body);
    const faults = faultsOf(everyFault);
    return {
      error: new Problem('validation-failed', describe(faults), {
        faults,
        source: faults[0]?.property ?? '',
      }),
    };
  };
}

/** The schema with a demand on every text that both databases can keep it as it is. */
function withStorableText(schema: JsonSchema): JsonSchema {
  const { items, properties } = schema as { items?: JsonSchema; properties?: Record<string, JsonSchema> };
  return {
    ...schema,
    ...(schema['type'] === 'string' ? { storable: true } : {}),
    ...(items === undefined ? {} : { items: withStorableText(items) }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, withStorableText) }),
  };
}

/** The schema with nothing but its JSON types. */
function typesOnly(schema: JsonSchema): JsonSchema {
  const kept: JsonSchema = {};
  // An integer is a JSON number: 1.5 has the right type and the wrong value.
  if (schema['type'] !== undefined) kept['type'] = schema['type'] === 'integer' ? 'number' : schema['type'];
  if (schema['items'] !== undefined) kept['items'] = typesOnly(schema['items'] as JsonSchema);
  if (schema['properties'] !== undefined) {
    kept['properties'] = mapValues(schema['properties'] as Record<string, JsonSchema>, typesOnly);
  }
  return kept;
}

/** The schema without the limits of its batches, which have an answer of their own. */
function withoutCounts(schema: JsonSchema): JsonSchema {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
  return { ...schema, properties: mapValues(properties, ({ maxItems: _limit, ...rest }) => rest) };
}

function batchLimits(schema: JsonSchema): [property: string, max: number][] {
  const properties = (schema['properties'] ?? {}) as Record<string, { maxItems?: number }>;
  return Object.entries(properties).flatMap(([name, { maxItems }]) =>
    maxItems === undefined ? [] : [[name, maxItems] as [string, number]],
  );
}

function mapValues<T, R>(object: Record<string, T>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

function countItems(body: object): number {
  return Object.values(body).reduce(
    (sum: number, value) => sum + (Array.isArray(value) ? value.length : 0),
    0,
  );
}

function faultsOf(validate: ValidateFunction): Fault[] {
  return (validate.errors ?? []).map(faultOf);
}

function faultOf(error: ErrorObject): Fault {
  const path = error.instancePath.split('/').slice(1).map(decodePointer);
  if (error.keyword === 'required') {
    const { missingProperty } = error.params as { missingProperty: string };
    return { property: [...path, missingProperty].join('.'), message: 'is required' };
  }
  return { property: path.join('.'), message: messageOf(error), value: error.data };
}

function messageOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'enum':
      return `must be one of ${(error.params as { allowedValues: unknown[] }).allowedValues.join(', ')}`;
    case 'minItems':
      return 'must have at least one item';
    default:
      return error.message ?? 'is not valid';
  }
}

function decodePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** One sentence for people: the first few faults, and how many more there are. */
function describe(faults: readonly Fault[]): string {
  const named = faults.slice(0, 3).map((fault) => `${fault.property || 'The body'} ${fault.message}`);
  const more = faults.length - named.length;
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}
