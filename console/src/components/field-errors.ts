import { AssayError } from '../queries/client.ts';
import { errorText } from './notifications.tsx';

/** Validation errors of a form, by field. */
export interface FieldErrors {
  /** @returns the error of a field as a sentence */
  messageFor: (field: string) => string | undefined;
  /** Errors that concern no field of the form. */
  rest: string | undefined;
}

/**
 * Assigns the errors of a response to the fields of a form.
 * @param fields names of the fields in the API
 * @param taken the field that a conflict (409) concerns
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
      const sentence = toSentence(
        index === undefined || value === undefined ? message : `${value} ${message}`,
      );
      if (fields.includes(field)) found.set(field, [...(found.get(field) ?? []), sentence]);
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

/** Capitalizes a message and ends it with a period. */
export function toSentence(message: string): string {
  const sentence = (message[0]?.toUpperCase() ?? '') + message.slice(1);
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
