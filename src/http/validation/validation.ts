import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import {
  describeFieldError,
  type FieldError,
  type DescribedFieldError,
  summarizeFieldErrors,
} from '../../domain/shared/errors.ts';
import {
  ALLOW_UNKNOWN_ID,
  typesOf,
  typesOnly,
  acceptingUnknownIds,
  withStorableText,
} from './derived-schemas.ts';
import { type JsonSchema, schemaAlternatives } from './map-schema.ts';
import { createNullDropper } from './drop-nulls.ts';
import { Problem } from '../problems.ts';
import { arrayLimitsOf, findOverLimits, findOverTotal, type BodyItemLimit } from './array-limits.ts';
import { createPathFilter, takePassedMembers } from './passed-members.ts';
import { toFieldErrors } from './validation-errors.ts';

type Validated = { value: unknown } | { error: Problem };

/**
 * Array items and properties. A body with more, or with an array over its limit, is searched for its first error only:
 * a hostile body may have a million.
 */
const MAX_VALUES_SEARCHED = 20_000;

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
  total?: BodyItemLimit<unknown> | undefined;
  /** Whether `null` counts as absent, unless the schema allows it. */
  nullIsAbsent?: boolean;
  /**
   * Returns the errors that the rules of the domain find without the database, by the names of the body. It gets the
   * members that passed the schema, if others did not: a valid body meets the rules in the handler.
   */
  findRuleErrors?: ((body: unknown) => readonly FieldError[]) | undefined;
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
  const validator = lazyCompile(allErrorsAjv, acceptingUnknownIds(schema as JsonSchema));
  const { properties = {} } = schema as { properties?: Record<string, JsonSchema> };
  const converted = Object.entries(properties).filter(([, property]) =>
    ['integer', 'boolean', 'array'].some((type) => typesOf(property).includes(type)),
  );
  const allowed = Object.entries(properties).flatMap(([name, property]) =>
    ALLOW_UNKNOWN_ID in property
      ? [{ name, isId: lazyCompile(firstErrorAjv, property), unknown: property[ALLOW_UNKNOWN_ID] }]
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
    for (const { name, isId, unknown } of allowed) if (!isId()(values[name])) values[name] = unknown;
    const validate = validator();
    if (validate(values)) return { value: values };
    const sent = input as Record<string, unknown>;
    const fieldErrors = toFieldErrors(validate).map((fieldError) => ({
      ...fieldError,
      property: toSentName(fieldError.property, sent),
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
  const single = anyOf.find((choice) => choice !== list);
  if (list === undefined || single === undefined) return shapeValidator(schema, rules);
  const [ofList, ofOne] = [shapeValidator(list, rules), shapeValidator(single, rules)];
  return (body) => (Array.isArray(body) ? ofList : ofOne)(body);
}

function shapeValidator(
  schema: TSchema,
  { total, nullIsAbsent = false, findRuleErrors }: BodyOptions,
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

  const findEveryError = (
    body: object,
    typeErrors: readonly DescribedFieldError[],
  ): DescribedFieldError[] => {
    const validateValue = validateAllErrors();
    validateValue(body);
    const hasTypeError = createPathFilter(new Set(typeErrors.map(({ property }) => property)));
    const errors = [
      ...typeErrors,
      ...toFieldErrors(validateValue).filter(({ property }) => !hasTypeError(property)),
    ];
    return sortByPosition(
      [...errors, ...errorsOfPassedMembers(body, errors, findRuleErrors)],
      schema as JsonSchema,
    );
  };

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
    const overLimits = findOverLimits(body, batches);
    const isLarge = overLimits !== undefined || hasManyValues(body);
    const validateType = (isLarge ? validateFirstType : validateAllTypes)();
    if (!validateType(body)) {
      const typeErrors = toFieldErrors(validateType);
      return {
        error: bodyProblem('invalid-request', isLarge ? typeErrors : findEveryError(body, typeErrors)),
      };
    }
    const tooMany = overLimits ?? (total && findOverTotal(body, total));
    if (tooMany !== undefined) return { error: tooMany };
    if (!isLarge) return { error: bodyProblem('validation-failed', findEveryError(body, [])) };
    valid(body);
    return { error: bodyProblem('validation-failed', toFieldErrors(valid)) };
  };
}

/** Applies the rules to the members that passed the schema. @returns their errors, with paths in the body as sent */
function errorsOfPassedMembers(
  body: object,
  errors: readonly DescribedFieldError[],
  findRuleErrors: BodyOptions['findRuleErrors'],
): DescribedFieldError[] {
  const failed = new Set(errors.map(({ property }) => property));
  if (findRuleErrors === undefined || failed.has('')) return [];
  const { passed, toSentPath } = takePassedMembers(body, failed);
  const hasFailed = createPathFilter(failed);
  return findRuleErrors(passed)
    .map((error) => describeFieldError({ ...error, property: toSentPath(error.property) }))
    .filter(({ property }) => !hasFailed(property));
}

function bodyProblem(
  type: 'invalid-request' | 'validation-failed',
  fieldErrors: DescribedFieldError[],
): Problem {
  return new Problem(type, summarizeFieldErrors(fieldErrors, 'The body'), {
    fieldErrors,
    source: fieldErrors[0]?.property ?? '',
  });
}

/**
 * Compiles at the first use, which takes a few milliseconds: for all operations it would be half of the start. Ajv
 * compiles a known schema only once, so the apps of one process share validators.
 */
function lazyCompile(ajv: Ajv, schema: JsonSchema): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => (validate ??= ajv.compile(schema));
}

/** Whether a body has more array items and properties, at any depth, than are searched for every error. */
function hasManyValues(body: object): boolean {
  let count = 0;
  const open: object[] = [body];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const values = Object.values(next) as unknown[];
    count += values.length;
    if (count > MAX_VALUES_SEARCHED) return true;
    for (const value of values) {
      if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
  return false;
}

/** Sorts errors by their place in a body: properties as its schema lists them, items by their index. */
function sortByPosition<E extends { property: string }>(errors: readonly E[], schema: JsonSchema): E[] {
  return errors
    .map((error) => ({ error, position: positionOf(error.property, schema) }))
    .sort((one, other) => comparePositions(one.position, other.position))
    .map(({ error }) => error);
}

function positionOf(path: string, root: JsonSchema): number[] {
  let schemas = schemaAlternatives(root);
  return path.split('.').map((name) => {
    const items = schemas.flatMap(({ items: itemSchema }) =>
      itemSchema === undefined ? [] : [itemSchema as JsonSchema],
    );
    const isIndex = items.length > 0 && /^\d+$/.test(name);
    const parent = schemas.find(({ properties }) => Object.hasOwn(properties ?? {}, name));
    const properties = (parent?.['properties'] ?? {}) as Record<string, JsonSchema>;
    const member = properties[name];
    schemas = (isIndex ? items : member === undefined ? [] : [member]).flatMap(schemaAlternatives);
    if (isIndex) return Number(name);
    return member === undefined ? Number.MAX_SAFE_INTEGER : Object.keys(properties).indexOf(name);
  });
}

/** A parent precedes its members. */
function comparePositions(one: readonly number[], other: readonly number[]): number {
  for (const [index, position] of one.entries()) {
    const difference = position - (other[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}
