import { useForm } from '@mantine/form';
import { AssayError } from '../queries/client.ts';
import { errorText } from './notifications.ts';

/** Validation errors of a form, by field. */
export interface FieldErrors {
  /** @returns the errors of a field; undefined if it has none */
  messageFor: (field: string) => string | undefined;
  /** Errors that concern no field of the form. */
  rest: string | undefined;
}

/**
 * Assigns the errors of a response to the fields of a form, as sentences.
 * @param fields names of the fields in the API
 * @param uniqueField the field that a conflict (409) concerns
 */
export function parseFieldErrors(
  error: Error | null,
  fields: readonly string[],
  uniqueField?: string,
): FieldErrors {
  const errors = fieldErrorsOf(error);
  const isTaken =
    error instanceof AssayError && errors.length === 0 && error.status === 409 && uniqueField !== undefined;
  return {
    messageFor(field) {
      if (isTaken && field === uniqueField) return error.message;
      const fieldErrors = errors.filter(
        ({ property }) => fields.includes(field) && firstName(property) === field,
      );
      return joined(
        fieldErrors.map(({ property, value, message }) =>
          // Names the invalid item of a list.
          toSentence(property === field || value === undefined ? message : `${value} ${message}`),
        ),
        ' ',
      );
    },
    rest: isTaken ? undefined : restOf(error, fields),
  };
}

/**
 * Assigns the errors of a response to the fields of a form that has lists: `messageFor('steps.0.url')`.
 * @param fields names of the fields in the API
 * @param aliases other names that the form uses, by property of the API
 */
export function parseNestedErrors(
  error: Error | null,
  fields: readonly string[],
  aliases: Readonly<Record<string, string>>,
): FieldErrors {
  return {
    messageFor(field) {
      const fieldErrors = fieldErrorsOf(error).filter(
        ({ property }) =>
          property === field || property.startsWith(`${field}.`) || aliases[property] === field,
      );
      return joined(
        fieldErrors.map(({ property, value, message }) =>
          // Names the invalid item of a list.
          property !== field && value !== undefined && value !== '' ? `${value}: ${message}` : message,
        ),
        '; ',
      );
    },
    rest: restOf(error, fields),
  };
}

/**
 * The values of a form whose fields are named as in the API, with the errors of its last request beside the fields.
 * @param uniqueField the field that a conflict (409) concerns
 */
export function useApiForm<Values extends object>(
  initialValues: Values,
  error: Error | null,
  uniqueField?: keyof Values & string,
) {
  const { values, setValues, getInputProps } = useForm<Values>({ initialValues });
  const isConflict = error instanceof AssayError && error.status === 412;
  const { messageFor, rest } = parseFieldErrors(isConflict ? null : error, Object.keys(values), uniqueField);
  return {
    values,
    setValues,
    /** Whether someone else has saved a change since the form was opened. */
    isConflict,
    rest,
    field: <Name extends keyof Values & string>(name: Name) => ({
      ...getInputProps(name),
      value: values[name],
      error: messageFor(name),
    }),
  };
}

const fieldErrorsOf = (error: Error | null) => (error instanceof AssayError ? error.fieldErrors : []);
const firstName = (property: string) => property.split('.', 1)[0] ?? '';
const joined = (messages: readonly string[], separator: string) =>
  messages.length === 0 ? undefined : messages.join(separator);

/** @returns the errors of properties that are no fields, or else the error if it is not about properties */
function restOf(error: Error | null, fields: readonly string[]): string | undefined {
  const errors = fieldErrorsOf(error);
  if (error !== null && errors.length === 0) return errorText(error);
  return joined(
    errors
      .filter(({ property }) => !fields.includes(firstName(property)))
      .map(({ property, message }) => `${property} ${message}`),
    '; ',
  );
}

/** Capitalizes a message and ends it with a period. */
export function toSentence(message: string): string {
  const sentence = (message[0]?.toUpperCase() ?? '') + message.slice(1);
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
