import { type FieldError, invalidInput } from './errors.ts';

export const MAX_NAME_LENGTH = 255;

/** 1 to `MAX_NAME_LENGTH` code points between leading and trailing space. Backtracking is bounded by that length. */
const NAME = /^\s*\S(?:[\s\S]{0,253}\S)?\s*$/u;

/** The length of a name, for JSON Schema. Control characters are checked in code, as stored names may have them. */
export const NAME_PATTERN = NAME.source;

/** Control characters (C0, DEL, C1), and line and paragraph separators. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}]+/u;
const ALL_CONTROL_CHARACTERS = new RegExp(CONTROL_CHARACTERS, 'gu');

/**
 * The rule for names and titles (docs/decided.md, section 6): 1 to 255 characters after trimming, on one line, without
 * control characters and halves of surrogate pairs.
 * @returns the error of the name, if any
 */
export function validateName(property: string, name: string): FieldError | undefined {
  return validateNameLength(property, name) ?? validateCharacters(property, name);
}

/** Validates a name that selects a stored one, which may be older than the rule. */
export function validateNameLength(property: string, name: string): FieldError | undefined {
  if (name.trim() === '') return { property, code: 'empty', value: name };
  return validateOptionalNameLength(property, name);
}

/** Validates a name that can be empty. */
export function validateOptionalName(property: string, name: string): FieldError | undefined {
  return validateOptionalNameLength(property, name) ?? validateCharacters(property, name);
}

/** Validates a changed name. A stored one may keep characters from before the rule. */
export function validateNameChange(property: string, name: string, stored: string): FieldError | undefined {
  return name.trim() === stored.trim() ? validateNameLength(property, name) : validateName(property, name);
}

/**
 * @returns the trimmed name
 * @throws DomainError `invalid` when it breaks the rule (`validateName`)
 */
export function requireName(property: string, name: string): string {
  return trimValid(name, validateName(property, name));
}

/**
 * @param stored the name before the change, read from the locked row
 * @returns the trimmed name
 * @throws DomainError `invalid` when it breaks the rule (`validateNameChange`)
 */
export function requireNewName(property: string, name: string, stored: string): string {
  return trimValid(name, validateNameChange(property, name, stored));
}

function trimValid(name: string, error: FieldError | undefined): string {
  if (error !== undefined) throw invalidInput(error);
  return name.trim();
}

/** Replaces control characters by spaces, for names from external texts such as reports. */
export function replaceControlCharacters(text: string): string {
  return text.replace(ALL_CONTROL_CHARACTERS, ' ');
}

/** Validates the length of a name that can be empty, and may be a stored one. */
export function validateOptionalNameLength(property: string, name: string): FieldError | undefined {
  return [...name.trim()].length > MAX_NAME_LENGTH
    ? { property, code: 'too-long', params: { max: MAX_NAME_LENGTH }, value: name }
    : undefined;
}

function validateCharacters(property: string, name: string): FieldError | undefined {
  const text = name.trim();
  return CONTROL_CHARACTERS.test(text) || !text.isWellFormed()
    ? { property, code: 'control-characters', value: name }
    : undefined;
}
