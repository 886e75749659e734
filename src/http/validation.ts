import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import type { Fault } from '../domain/shared/failure.ts';
import { type JsonSchema, mapSchema } from './map-schema.ts';
import { Problem } from './problems.ts';

type Validated = { value: unknown } | { error: Problem };

/** Beyond this many array items, only the first fault is looked for: a hostile body may have a million. */
const MAX_ITEMS_SEARCHED = 20_000;

/** A body of the right JSON types of which nothing else is known: anything may be missing. */
type Typed<B> = B extends readonly (infer Item)[]
  ? readonly Typed<Item>[]
  : B extends object
    ? { readonly [Name in keyof B]?: Typed<B[Name]> }
    : B;

/** How many of something a body may name in all, beside what each of its arrays may hold. */
export interface TotalLimit<B> {
  max: number;
  /** What is counted, in the plural. */
  things: string;
  /** The property at fault. */
  source: string;
  count(body: Typed<B>): number;
}

const first = newAjv({ allErrors: false });
const all = newAjv({ allErrors: true });

function newAjv(options: { allErrors: boolean }): Ajv {
  // Schemas are ours and tested; to check them against their own schema costs a start more than to compile them.
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
 * Fastify's validator compiler. Path and query values become numbers only where they are written as plain integers,
 * booleans where they are `true`, `false`, `1` or `0`, and lists where a list is due;
 * bodies are never converted and lose nothing. A failure is a `Problem` that tells malformed from invalid
 * (docs/decided.md, section 4).
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) =>
  httpPart === 'body' ? bodyValidator(schema) : parameterValidator(schema);

/** The same for a route whose bodies have a limit in all. */
export const compileValidatorWith =
  (total: TotalLimit<unknown>): FastifySchemaCompiler<TSchema> =>
  (route) =>
    route.httpPart === 'body' ? bodyValidator(route.schema, total) : compileValidator(route);

function parameterValidator(schema: TSchema): (input: unknown) => Validated {
  const validator = compileLater(
    all,
    mapSchema(schema as JsonSchema, (part) => part),
  );
  const { properties = {} } = schema as { properties?: Record<string, JsonSchema> };
  const converted = Object.entries(properties).filter(([, property]) =>
    ['integer', 'boolean', 'array'].some((type) => typesOf(property).includes(type)),
  );
  return (input) => {
    const values = { ...(input as Record<string, unknown>) };
    for (const [name, property] of converted) {
      if (values[name] !== undefined) values[name] = fromText(values[name], property);
    }
    const validate = validator();
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

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** @returns the value that a parameter writes; what cannot be one stays a text, which validation then refuses */
function fromText(value: unknown, schema: JsonSchema): unknown {
  const types = typesOf(schema);
  if (types.includes('array')) {
    const items = schema['items'] as JsonSchema | undefined;
    const list: unknown[] = Array.isArray(value) ? value : [value];
    return items === undefined ? list : list.map((item) => fromText(item, items));
  }
  if (types.includes('integer') && typeof value === 'string' && /^-?(0|[1-9]\d*)$/.test(value))
    return Number(value);
  return types.includes('boolean') ? (BOOLEANS.get(value) ?? value) : value;
}

function bodyValidator(schema: TSchema, total?: TotalLimit<unknown>): (input: unknown) => Validated {
  const storable = withStorableText(schema as JsonSchema);
  const firstFault = compileLater(first, storable);
  const types = typesOnly(schema as JsonSchema);
  const firstType = compileLater(first, types);
  const everyType = compileLater(all, types);
  const everyFault = compileLater(all, storable);
  const batches = batchesOf(schema as JsonSchema);

  return (body) => {
    const valid = firstFault();
    if (valid(body)) {
      const tooMany = total && findTooMany(body, total);
      return tooMany === undefined ? { value: body } : { error: tooMany };
    }
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return { error: new Problem('invalid-request', 'The body must be a JSON object.') };
    }
    const many = hasManyItems(body);
    const ofType = (many ? firstType : everyType)();
    if (!ofType(body)) {
      const faults = faultsOf(ofType);
      return {
        error: new Problem('invalid-request', describe(faults), {
          faults,
          source: faults[0]?.property ?? '',
        }),
      };
    }
    for (const batch of batches) {
      const oversized = findOversized(body, batch);
      if (oversized === undefined) continue;
      const [source, size] = oversized;
      const { max } = batch;
      const message = `${source} has ${size} items; at most ${max} are taken at once.`;
      return { error: new Problem('batch-too-large', message, { batch: { max, size }, source }) };
    }
    const tooMany = total && findTooMany(body, total);
    if (tooMany !== undefined) return { error: tooMany };
    const ofValue = many ? valid : everyFault();
    ofValue(body);
    const faults = faultsOf(ofValue);
    return {
      error: new Problem('validation-failed', describe(faults), {
        faults,
        source: faults[0]?.property ?? '',
      }),
    };
  };
}

/** Compiles at the first use, a few milliseconds: for all operations at once it is half of a start. */
function compileLater(ajv: Ajv, schema: JsonSchema): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => (validate ??= ajv.compile(schema));
}

/** The schema with a demand on every text that both databases can keep it as it is. */
const withStorableText = (schema: JsonSchema): JsonSchema =>
  mapSchema(schema, (part) => (typesOf(part).includes('string') ? { ...part, storable: true } : part));

/** The schema with nothing but its JSON types. */
const typesOnly = (schema: JsonSchema): JsonSchema =>
  mapSchema(schema, ({ type, items, properties, additionalProperties, anyOf, oneOf, allOf }) => {
    const kept = {
      type: typeof type === 'string' ? numberOf(type) : (type as string[] | undefined)?.map(numberOf),
      items,
      properties,
      // Whether other properties may be there at all is a question of values.
      additionalProperties: typeof additionalProperties === 'boolean' ? undefined : additionalProperties,
      // Several choices may have one type.
      anyOf: anyOf ?? oneOf,
      allOf,
    };
    return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  });

/** An integer is a JSON number: 1.5 has the right type and the wrong value. */
const numberOf = (type: string) => (type === 'integer' ? 'number' : type);

const typesOf = ({ type }: JsonSchema): unknown[] => [type].flat();

/** An array whose length has an answer of its own. */
interface Batch {
  /** From the root of the body; `*` stands for every item. */
  path: readonly string[];
  max: number;
}

/**
 * The arrays of a body that are batches: those on its first level, and deeper ones that say so with `x-batch`. The
 * limit of any other array is like that of a text.
 */
function batchesOf(schema: JsonSchema, path: readonly string[] = []): Batch[] {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema & { maxItems?: number }>;
  return Object.entries(properties).flatMap(([name, property]) => {
    const { maxItems: max, items } = property;
    const here = [...path, name];
    const isBatch = max !== undefined && (path.length === 0 || property['x-batch'] === true);
    return [
      ...(isBatch ? [{ path: here, max }] : []),
      ...(items === undefined ? [] : batchesOf(items as JsonSchema, [...here, '*'])),
    ];
  });
}

/** @returns the first array at the path, dotted, that is longer than the limit; the body has the right types */
function findOversized(value: unknown, { path, max }: Batch, dotted = ''): [string, number] | undefined {
  const [name, ...rest] = path;
  if (name === undefined) {
    const { length } = value as unknown[];
    return length > max ? [dotted, length] : undefined;
  }
  if (name === '*') {
    for (const [index, item] of (value as unknown[]).entries()) {
      const found = findOversized(item, { path: rest, max }, `${dotted}.${index}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const next = (value as Record<string, unknown>)[name];
  return next === undefined
    ? undefined
    : findOversized(next, { path: rest, max }, dotted === '' ? name : `${dotted}.${name}`);
}

/** @returns what is wrong when a body, which has the right types, names more than it may in all */
function findTooMany(
  body: unknown,
  { max, things, source, count }: TotalLimit<unknown>,
): Problem | undefined {
  const size = count(body);
  if (size <= max) return undefined;
  const message = `The request has ${size} ${things}; at most ${max} are taken at once.`;
  return new Problem('batch-too-large', message, { batch: { max, size }, source });
}

/** Whether a body has more array items, at any depth, than are searched for every fault. */
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
    case 'uniqueItems':
      return 'must not have the same item twice';
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `must have at most ${(error.params as { limit: number }).limit} characters`;
    case 'minimum':
      return `must be at least ${(error.params as { limit: number }).limit}`;
    case 'maximum':
      return `must be at most ${(error.params as { limit: number }).limit}`;
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
