import { type TSchema, Type } from 'typebox';
import { Problem } from '../problems.ts';

/** @returns the parameter `fields` of a list */
export function fieldsParameter(columns: readonly string[], always: string): TSchema {
  return Type.Optional(
    Type.String({
      maxLength: 2_048,
      description: `The fields of each row, by commas; ${always} is always there. One of: ${columns.join(', ')}.`,
    }),
  );
}

/**
 * @returns the fields that were chosen, in the order of the document; `undefined` for all of them
 * @throws Problem `invalid-request` for one that there is not
 */
export function parseFields(
  value: unknown,
  columns: readonly string[],
  always: string | undefined,
): readonly string[] | undefined {
  if (typeof value !== 'string' || always === undefined) return undefined;
  const names = new Set(value.split(',').map((name) => name.trim()));
  names.delete('');
  const unknown = [...names].find((name) => !columns.includes(name));
  if (unknown !== undefined) {
    const message = `must be of these: ${columns.join(', ')}`;
    throw new Problem('invalid-request', `fields ${message}.`, {
      source: 'fields',
      fieldErrors: [{ property: 'fields', message, value: unknown }],
    });
  }
  return columns.filter((name) => name === always || names.has(name));
}

/** @returns the row with those fields alone, or all of it */
export function pickFields(row: object, names: readonly string[] | undefined): object {
  if (names === undefined) return row;
  const values = row as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
