import { hash } from 'node:crypto';

/** RFC 9110, section 8.8.3. */
const ETAG_PATTERN = String.raw`(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const ETAG_LIST = new RegExp(String.raw`^[ \t,]*${ETAG_PATTERN}(?:[ \t]*,[ \t,]*${ETAG_PATTERN})*[ \t,]*$`);
const ETAGS = new RegExp(ETAG_PATTERN, 'g');
/** Longer than any list that someone means. */
export const MAX_HEADER_LENGTH = 8_192;

/**
 * @param text the body as it is sent: the same thing may look different to another caller
 * @returns the strong entity tag of an answer
 */
export function formatEtag(version: number, text: string): string {
  return `"${version}.${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/**
 * @param header `If-None-Match` (RFC 9110, section 13.1.2), which compares version and digest, weakly
 * @returns whether who asks has the answer of this entity tag already
 */
export function matchesEtag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag || header.trim() === '*') return true;
  return parseEtags(header).some((known) => known === tag || known === `W/${tag}`);
}

/** @returns the entity tags of a list; none of what is no such list */
export function parseEtags(header: string): readonly string[] {
  if (header.length > MAX_HEADER_LENGTH || !ETAG_LIST.test(header)) return [];
  return header.match(ETAGS) ?? [];
}
