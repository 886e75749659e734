import Negotiator from 'negotiator';
import type { Context } from '../context.ts';
import { Problem } from './problems.ts';

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
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** A spreadsheet takes what begins with one of these for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
