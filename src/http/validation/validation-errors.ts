import type { ErrorObject, ValidateFunction } from 'ajv';
import { describeFieldError, type DescribedFieldError } from '../../domain/shared/errors.ts';
import { NAME_PATTERN, validateNameLength } from '../../domain/shared/names.ts';

/** Characters of an unknown property name to show. */
const MAX_NAME_SHOWN = 100;

/** Returns the errors of the last validation. */
export function toFieldErrors({ errors }: ValidateFunction): DescribedFieldError[] {
  const selected = selectMatchingAlternative(errors ?? []);
  const pathsWithOtherErrors = new Set(
    selected.filter((error) => !isNamePatternError(error)).map((error) => error.instancePath),
  );
  // A name that also breaks another rule gets only the error of that rule.
  return selected
    .filter((error) => !isNamePatternError(error) || !pathsWithOtherErrors.has(error.instancePath))
    .map(toFieldError);
}

/**
 * Drops the type errors of alternatives that the value was not meant to be, and the error that no alternative matches.
 * If the value has the type of no alternative, keeps only that last error.
 */
function selectMatchingAlternative(errors: readonly ErrorObject[]): ErrorObject[] {
  const irrelevant = new Set<ErrorObject>();
  for (const [index, choice] of errors.entries()) {
    if (choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') continue;
    const alternativeErrors = errorsBelow(errors, index);
    const typeErrors = alternativeErrors.filter(
      ({ instancePath, keyword }) => instancePath === choice.instancePath && keyword === 'type',
    );
    const otherErrors =
      alternativeErrors.length > typeErrors.length ? [choice, ...typeErrors] : alternativeErrors;
    for (const error of otherErrors) irrelevant.add(error);
  }
  return errors.filter((error) => !irrelevant.has(error));
}

/** Returns the errors of the alternatives of a choice, which Ajv reports right before it. */
function errorsBelow(errors: readonly ErrorObject[], index: number): ErrorObject[] {
  const choice = errors[index] as ErrorObject;
  const isBelow = ({ instancePath, schemaPath }: ErrorObject): boolean =>
    schemaPath.startsWith(`${choice.schemaPath}/`) &&
    (instancePath === choice.instancePath || instancePath.startsWith(`${choice.instancePath}/`));
  let first = index;
  while (first > 0 && isBelow(errors[first - 1] as ErrorObject)) first -= 1;
  return errors.slice(first, index);
}

const isNamePatternError = ({ keyword, params }: ErrorObject): boolean =>
  keyword === 'pattern' && (params as { pattern: string }).pattern === NAME_PATTERN;

function toFieldError(error: ErrorObject): DescribedFieldError {
  const path = error.instancePath.split('/').slice(1).map(decodePointer);
  if (error.keyword === 'required') {
    const { missingProperty } = error.params as { missingProperty: string };
    return { property: [...path, missingProperty].join('.'), message: 'is required' };
  }
  if (error.keyword === 'additionalProperties') {
    const { additionalProperty: name } = error.params as { additionalProperty: string };
    return {
      property: [...path, name.slice(0, MAX_NAME_SHOWN)].join('.'),
      message: 'is not a known property',
    };
  }
  const property = path.join('.');
  const nameError = isNamePatternError(error)
    ? validateNameLength(property, error.data as string)
    : undefined;
  return nameError === undefined
    ? { property, message: formatMessage(error), value: error.data }
    : describeFieldError(nameError);
}

function formatMessage(error: ErrorObject): string {
  switch (error.keyword) {
    case 'enum':
      return `must be one of ${(error.params as { allowedValues: (string | number | null)[] }).allowedValues.filter((value) => value !== null).join(', ')}`;
    case 'minProperties':
      return 'must have at least one property';
    case 'minItems':
      return 'must have at least one item';
    case 'maxItems':
      return `must have at most ${(error.params as { limit: number }).limit} items`;
    case 'uniqueItems':
      return 'must not contain the same item twice';
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `must have at most ${(error.params as { limit: number }).limit} characters`;
    case 'minimum':
      return `must be at least ${(error.params as { limit: number }).limit}`;
    case 'maximum':
      return `must be at most ${(error.params as { limit: number }).limit}`;
    case 'anyOf':
    case 'oneOf':
      return 'must match one of the allowed forms';
    case 'type':
      return `must be ${[(error.params as { type: string | string[] }).type].flat().map(formatType).join(' or ')}`;
    case 'pattern':
      return formatPatternError(error.params as { pattern: string });
    default:
      return error.message ?? 'is not valid';
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const formatType = (type: string) => TYPE_NAMES[type] ?? type;

/** Our patterns are a number of characters from a class. Any other pattern has a description where it is declared. */
const CHARACTER_CLASS = /^\^\[([^\]]+)\](?:\{(\d+)(?:,(\d+))?\}|\+)\$?$/;

function formatPatternError({ pattern }: { pattern: string }): string {
  const [, characters, min, max = min] = CHARACTER_CLASS.exec(pattern) ?? [];
  if (characters === undefined) return 'has an invalid format';
  const ranges = [...characters.matchAll(/.-.|./g)].map(([range]) => range);
  const last = ranges.pop();
  const listed = ranges.length === 0 ? last : `${ranges.join(', ')} and ${last}`;
  if (min === undefined) return `must contain only the characters ${listed}`;
  return `must be ${min === max ? min : `${min} to ${max}`} characters of ${listed}`;
}

function decodePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
