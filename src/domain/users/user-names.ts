import { replaceHiddenCharacters } from '../../auth/plain-text.ts';
import { type FieldError, invalidInput } from '../shared/errors.ts';
import { validateName } from '../shared/names.ts';

/** Something that is drawn: fillers and the blank of Braille are letters and symbols, and show nothing. */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/** @returns what is wrong with what a person is to be called, or nothing: others have to see it, as it is the link to them */
export function validateUserName(property: string, name: string): FieldError | undefined {
  const text = replaceHiddenCharacters(name);
  const fault = validateName(property, text);
  if (fault !== undefined || VISIBLE.test(text)) return fault;
  return { property, code: 'no-visible-character', value: name };
}

/**
 * @returns the name without outer space, and with a space in place of what turns the text around or cannot be seen
 * @throws Failure `invalid` when it is empty, too long, or shows nothing
 */
export function requireUserName(property: string, name: string): string {
  const fault = validateUserName(property, name);
  if (fault !== undefined) throw invalidInput(fault);
  return replaceHiddenCharacters(name).trim();
}
