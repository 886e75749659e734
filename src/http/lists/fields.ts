import { type TSchema, Type } from 'typebox';
import { Problem } from '../problems.ts';

/** Schema of the parameter `fields`. */
export function fieldsParameter(columns: readonly string[], always: string): TSchema {
  return Type.Optional(
    Type.String({
      maxLength: 2_048,
      description: `The fields of each row, separated by commas. ${always} is always included. One of: ${columns.join(', ')}.`,
    }),
  );
}

/**
 * @returns the selected fields in the order of the schema; `undefined` for all
 * @throws Problem `invalid-request` for an unknown field
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
    const message = `must be one of: ${columns.join(', ')}`;
    throw new Problem('invalid-request', `fields ${message}.`, {
      source: 'fields',
      fieldErrors: [{ property: 'fields', message, value: unknown }],
    });
  }
  return columns.filter((name) => name === always || names.has(name));
}

export function pickFields(row: object, names: readonly string[] | undefined): object {
  if (names === undefined) return row;
  const values = row as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
