import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { summarizeFieldErrors } from '../../domain/shared/errors.ts';
import { type JsonSchema, mapSchema } from './map-schema.ts';
import { NULL_NOT_ALLOWED, createNullDropper } from './drop-nulls.ts';
import { Problem } from '../problems.ts';
import { arrayLimitsOf, findOverLimit, findOverTotal, type TotalLimit } from './array-limits.ts';
import { toFieldErrors } from './validation-errors.ts';

type Validated = { value: unknown } | { error: Problem };

/** With more array items, only the first error is searched for: a hostile body may have a million. */
const MAX_ITEMS_SEARCHED = 20_000;

/**
 * Marks a path id of any form. Its value replaces an invalid id and matches no row, so that the id is answered as an
 * unknown one, in the same order among the errors.
 */
export const LENIENT_ID = 'x-unknown-id';

const firstErrorAjv = newAjv({ allErrors: false });
const allErrorsAjv = newAjv({ allErrors: true });

function newAjv(options: { allErrors: boolean }): Ajv {
  // Our schemas are tested; validating them costs more of the start than compiling them.
  const ajv = new Ajv({
    strict: false,
    verbose: true,
    validateFormats: false,
    meta: false,
    validateSchema: false,
    ...options,
  });
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
 * Fastify's validator compiler. Converts parameters to numbers where they are plain integers, to booleans where they
 * are `true`, `false`, `1` or `0`, and to arrays where the schema has one. Never changes bodies. Fails with a
 * `Problem` that distinguishes malformed from invalid (docs/decided.md, section 4).
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) =>
  httpPart === 'body' ? bodyValidator(schema) : parameterValidator(schema);

/** Options of a route's body in addition to its schema. */
export interface BodyOptions {
  total?: TotalLimit<unknown> | undefined;
  /** Whether `null` counts as absent, unless the schema allows it. */
  nullIsAbsent?: boolean;
  /** Whether the body is not JSON and the handler reads it. */
  isMultipart?: boolean;
}

export const createValidatorCompiler =
  (rules: BodyOptions): FastifySchemaCompiler<TSchema> =>
  (route) => {
    if (route.httpPart !== 'body') return compileValidator(route);
    return rules.isMultipart === true ? (value: unknown) => ({ value }) : bodyValidator(route.schema, rules);
  };

function parameterValidator(schema: TSchema): (input: unknown) => Validated {
  const validator = lazyCompile(allErrorsAjv, withoutLenientIds(schema as JsonSchema));
  const { properties = {} } = schema as { properties?: Record<string, JsonSchema> };
  const converted = Object.entries(properties).filter(([, property]) =>
    ['integer', 'boolean', 'array'].some((type) => typesOf(property).includes(type)),
  );
  const lenient = Object.entries(properties).flatMap(([name, property]) =>
    LENIENT_ID in property
      ? [{ name, isId: lazyCompile(firstErrorAjv, property), unknown: property[LENIENT_ID] }]
      : [],
  );
  const lists = Object.keys(properties).filter((name) => name.endsWith('[]'));
  return (input) => {
    const values = { ...(input as Record<string, unknown>) };
    // The brackets of a list parameter may be omitted.
    for (const name of lists) {
      const bare = values[name.slice(0, -2)];
      if (bare !== undefined) values[name] = [values[name] ?? [], bare].flat();
    }
    for (const [name, property] of converted) {
      if (values[name] !== undefined) values[name] = coerceText(values[name], property);
    }
    for (const { name, isId, unknown } of lenient) if (!isId()(values[name])) values[name] = unknown;
    const validate = validator();
    if (validate(values)) return { value: values };
    const sent = input as Record<string, unknown>;
    const fieldErrors = toFieldErrors(validate).map((one) => ({
      ...one,
      property: toSentName(one.property, sent),
    }));
    const [first] = fieldErrors;
    return {
      error: new Problem('invalid-request', summarizeFieldErrors(fieldErrors, 'The request'), {
        fieldErrors,
        ...(first === undefined ? {} : { source: first.property }),
      }),
    };
  };
}

/** Returns the parameter as the request names it, without an index, and without brackets it lacks. */
function toSentName(property: string, sent: Readonly<Record<string, unknown>>): string {
  const name = property.replace(/\.\d+$/, '');
  const bare = name.replace(/\[\]$/, '');
  return name in sent || !(bare in sent) ? name : bare;
}

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Converts the text of a parameter. A text that cannot be converted stays as it is, and fails validation. */
function coerceText(value: unknown, schema: JsonSchema): unknown {
  const types = typesOf(schema);
  if (types.includes('array')) {
    const items = schema['items'] as JsonSchema | undefined;
    const list: unknown[] = Array.isArray(value) ? value : [value];
    return items === undefined ? list : list.map((item) => coerceText(item, items));
  }
  if (types.includes('integer') && typeof value === 'string' && /^-?(0|[1-9]\d*)$/.test(value))
    return Number(value);
  return types.includes('boolean') ? (BOOLEANS.get(value) ?? value) : value;
}

/** Validates a body that may be one object or an array against the one that it is. */
function bodyValidator(schema: TSchema, rules: BodyOptions = {}): (input: unknown) => Validated {
  const { anyOf = [] } = schema as { anyOf?: TSchema[] };
  const list = anyOf.find((choice) => typesOf(choice as JsonSchema).includes('array'));
  const one = anyOf.find((choice) => choice !== list);
  if (list === undefined || one === undefined) return shapeValidator(schema, rules);
  const [ofList, ofOne] = [shapeValidator(list, rules), shapeValidator(one, rules)];
  return (body) => (Array.isArray(body) ? ofList : ofOne)(body);
}

function shapeValidator(
  schema: TSchema,
  { total, nullIsAbsent = false }: BodyOptions,
): (input: unknown) => Validated {
  const isList = typesOf(schema as JsonSchema).includes('array');
  const dropNulls = nullIsAbsent ? createNullDropper(schema as JsonSchema) : undefined;
  const storable = withStorableText(schema as JsonSchema);
  const validateFirstError = lazyCompile(firstErrorAjv, storable);
  const types = typesOnly(schema as JsonSchema);
  const validateFirstType = lazyCompile(firstErrorAjv, types);
  const validateAllTypes = lazyCompile(allErrorsAjv, types);
  const validateAllErrors = lazyCompile(allErrorsAjv, storable);
  const batches = arrayLimitsOf(schema as JsonSchema);

  return (body) => {
    dropNulls?.(body);
    const valid = validateFirstError();
    if (valid(body)) {
      const tooMany = total && findOverTotal(body, total);
      return tooMany === undefined ? { value: body } : { error: tooMany };
    }
    if (typeof body !== 'object' || body === null || Array.isArray(body) !== isList) {
      return { error: new Problem('invalid-request', 'The body must be a JSON object.') };
    }
    const many = hasManyItems(body);
    const ofType = (many ? validateFirstType : validateAllTypes)();
    if (!ofType(body)) {
      const fieldErrors = toFieldErrors(ofType);
      return {
        error: new Problem('invalid-request', summarizeFieldErrors(fieldErrors, 'The body'), {
          fieldErrors,
          source: fieldErrors[0]?.property ?? '',
        }),
      };
    }
    for (const batch of batches) {
      const oversized = findOverLimit(body, batch);
      if (oversized === undefined) continue;
      const [source, size] = oversized;
      const { max } = batch;
      const message = `${source || 'The body'} has ${size} items; the maximum is ${max}.`;
      return { error: new Problem('batch-too-large', message, { batch: { max, size }, source }) };
    }
    const tooMany = total && findOverTotal(body, total);
    if (tooMany !== undefined) return { error: tooMany };
    const ofValue = many ? valid : validateAllErrors();
    ofValue(body);
    const fieldErrors = toFieldErrors(ofValue);
    return {
      error: new Problem('validation-failed', summarizeFieldErrors(fieldErrors, 'The body'), {
        fieldErrors,
        source: fieldErrors[0]?.property ?? '',
      }),
    };
  };
}

/**
 * Compiles at the first use, which takes a few milliseconds: for all operations it would be half of the start. Ajv
 * compiles a known schema only once, so the apps of one process share validators.
 */
function lazyCompile(ajv: Ajv, schema: JsonSchema): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => (validate ??= ajv.compile(schema));
}

/** Memoizes by schema, as the apps of one process share them. */
function memoizeSchema(change: (schema: JsonSchema) => JsonSchema): (schema: JsonSchema) => JsonSchema {
  const cache = new WeakMap<JsonSchema, JsonSchema>();
  return (schema) => {
    const known = cache.get(schema) ?? change(schema);
    cache.set(schema, known);
    return known;
  };
}

/** Accepts any value for a lenient id. */
const withoutLenientIds = memoizeSchema((schema) =>
  mapSchema(schema, (part) => (LENIENT_ID in part ? {} : part)),
);

/** Requires every text to be storable in both databases. */
const withStorableText = memoizeSchema((schema) =>
  mapSchema(schema, (part) => (typesOf(part).includes('string') ? { ...part, storable: true } : part)),
);

/** Keeps only the JSON types of a schema. */
const typesOnly = memoizeSchema((schema) =>
  mapSchema(schema, (part) => {
    const { type, items, additionalProperties, anyOf, oneOf, allOf } = part;
    const properties = part['properties'] as Record<string, JsonSchema> | undefined;
    const types = {
      type: typeof type === 'string' ? toNumberType(type) : (type as string[] | undefined)?.map(toNumberType),
      items,
      properties: part[NULL_NOT_ALLOWED] === true ? allowNull(properties ?? {}) : properties,
      // Whether other properties are allowed depends on values.
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
    Object.entries(properties).map(([name, one]) => [name, { ...one, type: [...typesOf(one), 'null'] }]),
  );

/** An integer is a JSON number: 1.5 has the right type but the wrong value. */
const toNumberType = (type: string) => (type === 'integer' ? 'number' : type);

const typesOf = ({ type }: JsonSchema): unknown[] => [type].flat();

/** Whether a body has more array items, at any depth, than are searched for every error. */
function hasManyItems(body: object): boolean {
  let count = 0;
  const open: object[] = [body];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) count += next.length;
    if (count > MAX_ITEMS_SEARCHED) return true;
    for (const value of Object.values(next) as unknown[]) {
      if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
  return false;
}
