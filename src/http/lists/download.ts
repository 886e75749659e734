import Negotiator from 'negotiator';
import type { Context } from '../../runtime/context.ts';
import { Problem } from '../problems.ts';

/** What a list that streams can be had as; the first is what it is when nothing else is asked for. */
export const MEDIA_TYPES = ['application/json', 'text/csv', 'application/x-ndjson'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

/** Downloads that an account may have at once in a process (docs/companions.md, section 1). */
const MAX_AT_ONCE = 4;
const RETRY_AFTER_SECONDS = 5;

/** @returns a media type as answers name it; a request may ask for that as well */
export function inUtf8(type: MediaType): string {
  return `${type}; charset=utf-8`;
}

/** @returns the media type that a request wants: JSON unless it asks for another one that there is */
export function mediaTypeWanted(accept: string | undefined): MediaType {
  const wanted = new Negotiator({ headers: { accept } }).mediaType(MEDIA_TYPES.map(inUtf8));
  return MEDIA_TYPES.find((type) => inUtf8(type) === wanted) ?? 'application/json';
}

const running = new WeakMap<Context, Map<string, number>>();

/**
 * Counts a download.
 * @param account whose it is
 * @returns what to call when it has ended
 * @throws Problem `rate-limited` when the account has as many as it may
 */
export function beginDownload(context: Context, account: string): () => void {
  const counts = running.get(context) ?? new Map<string, number>();
  running.set(context, counts);
  const count = counts.get(account) ?? 0;
  if (count >= MAX_AT_ONCE) {
    throw new Problem(
      'rate-limited',
      `${MAX_AT_ONCE} downloads of this account run already. Wait for one to end.`,
      { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
    );
  }
  counts.set(account, count + 1);
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    const left = (counts.get(account) ?? 1) - 1;
    if (left === 0) counts.delete(account);
    else counts.set(account, left);
  };
}

/** @returns a line of RFC 4180 with its end */
export function csvLine(values: readonly unknown[]): string {
  let line = '';
  for (let column = 0; column < values.length; column += 1)
    line += column === 0 ? csvCell(values[column]) : `,${csvCell(values[column])}`;
  return `${line}\r\n`;
}

/** A spreadsheet takes what begins with one of these for a formula. Either of both needs a closer look. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_CARE = /[",\r\n]|^[=+\-@\t]/;
const NEEDS_QUOTES = /[",\r\n]/;
const QUOTES = /"/g;

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' && value >= 0) return String(value);
  if (typeof value === 'object') {
    const text = quotedJson(value);
    return text === '[]' || text === '{}' ? text : `"${text}"`;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!NEEDS_CARE.test(text)) return text;
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(guarded) ? `"${guarded.replace(QUOTES, '""')}"` : guarded;
}

/** Characters that JSON escapes; half of a surrogate pair is one of them. */
// eslint-disable-next-line no-control-regex -- those are the characters
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** JSON of plain values as `JSON.stringify` has it, with each quote doubled: doubling them afterwards costs more. */
function quotedJson(value: unknown): string {
  if (typeof value === 'string')
    return ESCAPED.test(value) ? JSON.stringify(value).replace(QUOTES, '""') : `""${value}""`;
  if (typeof value === 'number' && Number.isInteger(value)) return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? quotedJson(item) : `,${quotedJson(item)}`;
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    const member = members[name];
    if (member !== undefined) text += (text === '' ? '' : ',') + quotedName(name) + quotedJson(member);
  }
  return `{${text}}`;
}

/** Names of members, as `quotedJson` writes them with their colon: they are those of the schemas, and come again and again. */
const quotedNames = new Map<string, string>();
const MAX_NAMES = 1_000;

function quotedName(name: string): string {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  const text = `${quotedJson(name)}:`;
  if (quotedNames.size < MAX_NAMES) quotedNames.set(name, text);
  return text;
}
