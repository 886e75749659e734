import { replaceHiddenCharacters } from '../../auth/visible-text.ts';
import { type FieldError, invalidInput } from '../shared/errors.ts';
import { validateName } from '../shared/names.ts';

/** A visible character. Fillers and the blank Braille pattern count as letters and symbols but are invisible. */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * Names have to be visible, because people select users by them.
 * @returns the error of the name, if any
 */
export function validateUserName(property: string, name: string): FieldError | undefined {
  const text = replaceHiddenCharacters(name);
  const error = validateName(property, name) ?? validateName(property, text);
  if (error !== undefined || VISIBLE.test(text)) return error;
  return { property, code: 'no-visible-character', value: name };
}

/**
 * @returns the trimmed name, with spaces for bidirectional controls and byte order marks
 * @throws DomainError `invalid` when it is empty, too long, invisible, or has control characters
 */
export function requireUserName(property: string, name: string): string {
  const error = validateUserName(property, name);
  if (error !== undefined) throw invalidInput(error);
  return replaceHiddenCharacters(name).trim();
}
