import { textToMarkdown } from './text-to-markdown.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const NONE: JsonObject = Object.freeze({});

/** @returns the value; an empty object if it is not an object, so that missing members are `undefined` */
export function asJsonObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : NONE;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns the trimmed text, if not empty; numbers count as text, because tools disagree */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** @returns the number, also if it is quoted */
export function numberOf(value: unknown): number | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** @returns the list; a single value becomes a list of one, a missing value an empty one */
export function arrayOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** @returns the non-empty texts of a list or of a single value */
export function textsOf(value: unknown): string[] {
  return arrayOf(value)
    .map(textOf)
    .filter((text) => text !== undefined);
}

/** @returns a plain text as Markdown */
export function markdownTextOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : textToMarkdown(text);
}
