import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Fault } from '../../domain/shared/errors.ts';
import { NAME_PATTERN, nameFault } from '../../domain/shared/names.ts';

/** Characters of a name that nobody here knows. */
const MAX_UNKNOWN = 100;

/** @returns what was wrong with the value that was validated last */
export function faultsOf({ errors }: ValidateFunction): Fault[] {
  const faults = withoutOtherChoices(errors ?? []);
  const otherwise = new Set(faults.filter((error) => !isOfName(error)).map((error) => error.instancePath));
  // A name that no text may be like is told that alone.
  return faults.filter((error) => !isOfName(error) || !otherwise.has(error.instancePath)).map(faultOf);
}

/**
 * Of what may be one of several things, what is wrong with the one that it was meant to be: a choice of another type is
 * not, and that none fits says nothing beside it.
 */
function withoutOtherChoices(errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const needless = choices.flatMap((choice) => {
    const within = errors.filter(
      ({ instancePath, schemaPath }) =>
        schemaPath.startsWith(`${choice.schemaPath}/`) && instancePath.startsWith(choice.instancePath),
    );
    const ofType = within.filter(
      ({ instancePath, keyword }) => instancePath === choice.instancePath && keyword === 'type',
    );
    return within.length > ofType.length ? [choice, ...ofType] : within;
  });
  return errors.filter((error) => !needless.includes(error));
}

const isOfName = ({ keyword, params }: ErrorObject): boolean =>
  keyword === 'pattern' && (params as { pattern: string }).pattern === NAME_PATTERN;

function faultOf(error: ErrorObject): Fault {
  const path = error.instancePath.split('/').slice(1).map(decodePointer);
  if (error.keyword === 'required') {
    const { missingProperty } = error.params as { missingProperty: string };
    return { property: [...path, missingProperty].join('.'), message: 'is required' };
  }
  if (error.keyword === 'additionalProperties') {
    const { additionalProperty: name } = error.params as { additionalProperty: string };
    return { property: [...path, name.slice(0, MAX_UNKNOWN)].join('.'), message: 'is not known here' };
  }
  const property = path.join('.');
  const ofName = isOfName(error) ? nameFault(property, error.data as string) : undefined;
  return ofName ?? { property, message: messageOf(error), value: error.data };
}

function messageOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'enum':
      return `must be one of ${(error.params as { allowedValues: (string | number | null)[] }).allowedValues.filter((value) => value !== null).join(', ')}`;
    case 'minProperties':
      return 'must have at least one member';
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
    case 'anyOf':
    case 'oneOf':
      return 'has none of the forms that it may have';
    case 'type':
      return `must be ${[(error.params as { type: string | string[] }).type].flat().map(typeWord).join(' or ')}`;
    case 'pattern':
      return describePattern(error.params as { pattern: string });
    default:
      return error.message ?? 'is not valid';
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const typeWord = (type: string) => TYPE_WORDS[type] ?? type;

/** Our patterns are a number of characters out of a few; one that is more is told by an example where it is declared. */
const CHARACTERS = /^\^\[([^\]]+)\](?:\{(\d+)(?:,(\d+))?\}|\+)\$?$/;

function describePattern({ pattern }: { pattern: string }): string {
  const [, characters, least, most = least] = CHARACTERS.exec(pattern) ?? [];
  if (characters === undefined) return 'does not have the form that it must have';
  const named = [...characters.matchAll(/.-.|./g)].map(([one]) => one);
  const last = named.pop();
  const listed = named.length === 0 ? last : `${named.join(', ')} and ${last}`;
  if (least === undefined) return `must have no characters but ${listed}`;
  return `must be ${least === most ? least : `${least} to ${most}`} characters of ${listed}`;
}

function decodePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
