import { textToMarkdown } from './markdown.ts';

/** What is known of a JSON object that a report holds: nothing. */
export type JsonObject = Readonly<Record<string, unknown>>;

const NONE: JsonObject = Object.freeze({});

/** @returns the object, or one without members where it is none, so that what is missing reads as `undefined` */
export function asJsonObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : NONE;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns a text that says something, without the space around it; a number is one too, as tools do not agree on it */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** @returns a number, also one that stands in quotes */
export function numberOf(value: unknown): number | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** @returns a list: what stands alone is one of one, and what is missing is empty */
export function arrayOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** @returns the texts of a list, or of one that stands alone */
export function textsOf(value: unknown): string[] {
  return arrayOf(value)
    .map(textOf)
    .filter((text) => text !== undefined);
}

/** @returns a plain text as Markdown that shows it as it is */
export function markdownTextOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : textToMarkdown(text);
}
