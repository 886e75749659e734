import Negotiator from 'negotiator';
import type { Context } from '../../runtime/context.ts';
import { Problem } from '../problems.ts';

/** What a list that streams can be had as; the first is what it is when nothing else is asked for. */
export const LIST_MEDIA_TYPES = ['application/json', 'text/csv', 'application/x-ndjson'] as const;
export type ListMediaType = (typeof LIST_MEDIA_TYPES)[number];

/** Downloads that an account may have at once in a process (docs/companions.md, section 1). */
const MAX_CONCURRENT_DOWNLOADS = 4;
const RETRY_AFTER_SECONDS = 5;

/** @returns a media type as answers name it; a request may ask for that as well */
export function withCharset(type: ListMediaType): string {
  return `${type}; charset=utf-8`;
}

/** @returns the media type that a request wants: JSON unless it asks for another one that there is */
export function negotiateMediaType(accept: string | undefined): ListMediaType {
  const wanted = new Negotiator({ headers: { accept } }).mediaType(LIST_MEDIA_TYPES.map(withCharset));
  return LIST_MEDIA_TYPES.find((type) => withCharset(type) === wanted) ?? 'application/json';
}

const downloadCounts = new WeakMap<Context, Map<string, number>>();

/**
 * Counts a download.
 * @param account whose it is
 * @returns what to call when it has ended
 * @throws Problem `rate-limited` when the account has as many as it may
 */
export function acquireDownloadSlot(context: Context, account: string): () => void {
  const counts = downloadCounts.get(context) ?? new Map<string, number>();
  downloadCounts.set(context, counts);
  const count = counts.get(account) ?? 0;
  if (count >= MAX_CONCURRENT_DOWNLOADS) {
    throw new Problem(
      'rate-limited',
      `${MAX_CONCURRENT_DOWNLOADS} downloads of this account run already. Wait for one to end.`,
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
export function toCsvLine(values: readonly unknown[]): string {
  let line = '';
  for (let column = 0; column < values.length; column += 1)
    line += column === 0 ? toCsvCell(values[column]) : `,${toCsvCell(values[column])}`;
  return `${line}\r\n`;
}

/** A spreadsheet takes what begins with one of these for a formula. Either of both needs a closer look. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_ESCAPING = /[",\r\n]|^[=+\-@\t]/;
const NEEDS_QUOTES = /[",\r\n]/;
const QUOTES = /"/g;

function toCsvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' && value >= 0) return String(value);
  if (typeof value === 'object') {
    const text = toQuotedJson(value);
    return text === '[]' || text === '{}' ? text : `"${text}"`;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!NEEDS_ESCAPING.test(text)) return text;
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(guarded) ? `"${guarded.replace(QUOTES, '""')}"` : guarded;
}

/** Characters that JSON escapes; half of a surrogate pair is one of them. */
// eslint-disable-next-line no-control-regex -- those are the characters
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** JSON of plain values as `JSON.stringify` has it, with each quote doubled: doubling them afterwards costs more. */
function toQuotedJson(value: unknown): string {
  if (typeof value === 'string')
    return ESCAPED.test(value) ? JSON.stringify(value).replace(QUOTES, '""') : `""${value}""`;
  if (typeof value === 'number' && Number.isInteger(value)) return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? toQuotedJson(item) : `,${toQuotedJson(item)}`;
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    const member = members[name];
    if (member !== undefined) text += (text === '' ? '' : ',') + toQuotedName(name) + toQuotedJson(member);
  }
  return `{${text}}`;
}

/** Names of members, as `quotedJson` writes them with their colon: they are those of the schemas, and come again and again. */
const quotedNames = new Map<string, string>();
const MAX_CACHED_NAMES = 1_000;

function toQuotedName(name: string): string {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  const text = `${toQuotedJson(name)}:`;
  if (quotedNames.size < MAX_CACHED_NAMES) quotedNames.set(name, text);
  return text;
}
