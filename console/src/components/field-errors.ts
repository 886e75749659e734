import { AssayError } from '../queries/client.ts';
import { errorText } from './notifications.tsx';

/** What the server finds wrong with a form, by the field that it names. */
export interface FieldErrors {
  /** @returns what is wrong with a field, as a sentence */
  messageFor: (field: string) => string | undefined;
  /** What is wrong with none of the fields. */
  rest: string | undefined;
}

/**
 * @param fields the fields of the form, as the API calls them
 * @param taken the field that a conflict (409) is about
 */
export function parseFieldErrors(
  error: Error | null,
  fields: readonly string[],
  taken?: string,
): FieldErrors {
  const found = new Map<string, string[]>();
  const rest: string[] = [];
  if (error instanceof AssayError) {
    for (const { property, message, value } of error.fieldErrors) {
      const [field = '', index] = property.split('.');
      const words = toSentence(index === undefined || value === undefined ? message : `${value} ${message}`);
      if (fields.includes(field)) found.set(field, [...(found.get(field) ?? []), words]);
      else rest.push(`${property} ${message}`);
    }
    if (error.fieldErrors.length === 0) {
      if (error.status === 409 && taken !== undefined) found.set(taken, [error.message]);
      else rest.push(errorText(error));
    }
  } else if (error !== null) rest.push(errorText(error));
  return {
    messageFor: (field) => found.get(field)?.join(' '),
    rest: rest.length === 0 ? undefined : rest.join('; '),
  };
}

function toSentence(words: string): string {
  const begun = (words[0]?.toUpperCase() ?? '') + words.slice(1);
  return begun.endsWith('.') ? begun : `${begun}.`;
}
