import type { ExpectedVersion } from '../domain/shared/versions.ts';
import { MAX_HEADER_LENGTH, parseEtags } from './entity-tags.ts';
import { OperationResult } from './operation-result.ts';

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

/** A proxy that compresses the response may change the rest of the tag. */
const ETAG_VERSION = /^(?:W\/)?"([1-9]\d{0,14})\./;

/**
 * The result of a versioned operation.
 * @param location path of a created object, relative to the prefix of the area
 */
export function versionedResult<Body>(
  version: number,
  body: Body,
  { location }: { location?: string } = {},
): OperationResult<Body> {
  return new OperationResult(body, version, location === undefined ? {} : { location });
}

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

const text = (description: string) => ({ type: 'string', maxLength: MAX_HEADER_LENGTH, description });

/** Request headers of a versioned operation, for the API description. */
export const CONDITIONAL_HEADERS = {
  'If-Match': text(
    'ETags, or `*`. The change is made only if the object has one of these versions. Only the version part of an ETag is compared.',
  ),
  'If-None-Match': text('ETags, or `*`. Returns 304 if the response matches one of them.'),
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
