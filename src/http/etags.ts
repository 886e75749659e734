import { hash } from 'node:crypto';
import type { ExpectedVersion } from '../domain/shared/versions.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the operation is about one versioned object. */
    versioned?: boolean;
  }
  interface FastifyRequest {
    /** The versions in `If-Match`; `undefined` without it. */
    ifMatch: ExpectedVersion | undefined;
  }
}

/** RFC 9110, section 8.8.3. */
const ETAG_PATTERN = String.raw`(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const ETAG_LIST = new RegExp(String.raw`^[ \t,]*${ETAG_PATTERN}(?:[ \t]*,[ \t,]*${ETAG_PATTERN})*[ \t,]*$`);
const ETAGS = new RegExp(ETAG_PATTERN, 'g');
/** Longer than any list in real use. */
const MAX_HEADER_LENGTH = 8_192;

/**
 * @param body the body as sent, because callers may see different bodies of the same version
 * @returns a strong ETag
 */
export function formatEtag(version: number, body: string): string {
  return `"${version}.${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}

/** @param header `If-None-Match` (RFC 9110, section 13.1.2), compared weakly by version and digest */
export function matchesEtag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag || header.trim() === '*') return true;
  return parseEtags(header).some((candidate) => candidate === tag || candidate === `W/${tag}`);
}

/** @returns the ETags in a header; none if it is malformed */
export function parseEtags(header: string): readonly string[] {
  if (header.length > MAX_HEADER_LENGTH || !ETAG_LIST.test(header)) return [];
  return header.match(ETAGS) ?? [];
}

/** A proxy that compresses the response may change the rest of the tag. */
const ETAG_VERSION = /^(?:W\/)?"([1-9]\d{0,14})\./;

/**
 * Parses `If-Match` (RFC 9110, section 13.1.1) by version only: the caller may have got another representation, and a
 * proxy may have weakened the tag.
 * @returns `undefined` without the header; no versions if it is malformed, so that nothing matches
 */
export function parseIfMatch(header: string | undefined): ExpectedVersion | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  const versions = parseEtags(header).flatMap((tag) => {
    const version = ETAG_VERSION.exec(tag)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
  return new Set(versions);
}

const headerSchema = (description: string) => ({ type: 'string', maxLength: MAX_HEADER_LENGTH, description });

/** Request headers of a versioned operation, for the API description. */
export const CONDITIONAL_HEADERS = {
  'If-Match': headerSchema(
    'ETags, or `*`. The change is made only if the object has one of these versions. Only the version part of an ETag is compared.',
  ),
  'If-None-Match': headerSchema('ETags, or `*`. Returns 304 if the response matches one of them.'),
};

export const ETagHeader = {
  type: 'string',
  maxLength: 64,
  description: 'The version of the object, and a digest of this response.',
};

/** Response header with the URL of a created object. */
export const LocationHeader = {
  type: 'string',
  maxLength: 4_096,
  description: 'The URL of the created object.',
};
