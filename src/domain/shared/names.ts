import { type FieldError, invalidInput } from './errors.ts';

export const MAX_NAME_LENGTH = 255;

/** 1 to `MAX_NAME_LENGTH` code points between outer space. It backtracks no further than the longest name. */
const NAME = /^\s*\S(?:[\s\S]{0,253}\S)?\s*$/u;

/** What `nameFault` finds nothing wrong with, for JSON Schema, whose characters are code points as well. */
export const NAME_PATTERN = NAME.source;

/** @returns what is wrong with a name, or nothing (docs/decided.md, section 6: 1 to 255 characters after trimming) */
export function validateName(property: string, name: string): FieldError | undefined {
  const length = [...name.trim()].length;
  if (length === 0) return { property, code: 'empty', value: name };
  if (length > MAX_NAME_LENGTH)
    return { property, code: 'too-long', params: { max: MAX_NAME_LENGTH }, value: name };
  return undefined;
}

/**
 * @returns the name without outer space
 * @throws Failure `invalid` when it is empty or too long
 */
export function requireName(property: string, name: string): string {
  const fault = validateName(property, name);
  if (fault !== undefined) throw invalidInput(fault);
  return name.trim();
}
