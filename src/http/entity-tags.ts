import { hash } from 'node:crypto';

/** RFC 9110, section 8.8.3. */
const ENTITY_TAG = String.raw`(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const ENTITY_TAGS = new RegExp(String.raw`^[ \t,]*${ENTITY_TAG}(?:[ \t]*,[ \t,]*${ENTITY_TAG})*[ \t,]*$`);
const EACH_TAG = new RegExp(ENTITY_TAG, 'g');
/** Longer than any list that someone means. */
export const MAX_HEADER = 8_192;

/**
 * @param text the body as it is sent: the same thing may look different to another caller
 * @returns the strong entity tag of an answer
 */
export function entityTag(version: number, text: string): string {
  return `"${version}.${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/**
 * @param header `If-None-Match` (RFC 9110, section 13.1.2), which compares version and digest, weakly
 * @returns whether who asks has the answer of this entity tag already
 */
export function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag || header.trim() === '*') return true;
  return tagsOf(header).some((known) => known === tag || known === `W/${tag}`);
}

/** @returns the entity tags of a list; none of what is no such list */
export function tagsOf(header: string): readonly string[] {
  if (header.length > MAX_HEADER || !ENTITY_TAGS.test(header)) return [];
  return header.match(EACH_TAG) ?? [];
}
