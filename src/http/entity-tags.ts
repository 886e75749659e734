import { hash } from 'node:crypto';

/** RFC 9110, section 8.8.3. */
const ETAG_PATTERN = String.raw`(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const ETAG_LIST = new RegExp(String.raw`^[ \t,]*${ETAG_PATTERN}(?:[ \t]*,[ \t,]*${ETAG_PATTERN})*[ \t,]*$`);
const ETAGS = new RegExp(ETAG_PATTERN, 'g');
/** Longer than any list in real use. */
export const MAX_HEADER_LENGTH = 8_192;

/**
 * @param text the body as sent, as different callers may see different bodies
 * @returns a strong ETag
 */
export function formatEtag(version: number, text: string): string {
  return `"${version}.${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/** @param header `If-None-Match` (RFC 9110, section 13.1.2), compared weakly by version and digest */
export function matchesEtag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag || header.trim() === '*') return true;
  return parseEtags(header).some((known) => known === tag || known === `W/${tag}`);
}

/** @returns no ETags for a malformed list */
export function parseEtags(header: string): readonly string[] {
  if (header.length > MAX_HEADER_LENGTH || !ETAG_LIST.test(header)) return [];
  return header.match(ETAGS) ?? [];
}
