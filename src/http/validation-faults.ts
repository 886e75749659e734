import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Fault } from '../domain/shared/failure.ts';
import { NAME_PATTERN, nameFault } from '../domain/shared/names.ts';

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
    default:
      return error.message ?? 'is not valid';
  }
}

function decodePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** One sentence for people: the first few faults, and how many more there are. */
export function describeFaults(faults: readonly Fault[]): string {
  const named = faults.slice(0, 3).map((fault) => `${fault.property || 'The body'} ${fault.message}`);
  const more = faults.length - named.length;
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}
