import { type FieldError, invalidInput } from './errors.ts';

export const MAX_NAME_LENGTH = 255;

/** 1 to `MAX_NAME_LENGTH` code points between leading and trailing space. Backtracking is bounded by that length. */
const NAME = /^\s*\S(?:[\s\S]{0,253}\S)?\s*$/u;

/** The same rule for JSON Schema. */
export const NAME_PATTERN = NAME.source;

/**
 * Names have 1 to 255 characters after trimming (docs/decided.md, section 6).
 * @returns what is wrong with the name, or nothing
 */
export function validateName(property: string, name: string): FieldError | undefined {
  const length = [...name.trim()].length;
  if (length === 0) return { property, code: 'empty', value: name };
  if (length > MAX_NAME_LENGTH)
    return { property, code: 'too-long', params: { max: MAX_NAME_LENGTH }, value: name };
  return undefined;
}

/**
 * @returns the trimmed name
 * @throws DomainError `invalid` when it is empty or too long
 */
export function requireName(property: string, name: string): string {
  const error = validateName(property, name);
  if (error !== undefined) throw invalidInput(error);
  return name.trim();
}
