import type { ExpectedVersion } from '../domain/shared/versions.ts';
import { MAX_HEADER_LENGTH, parseEtags } from './entity-tags.ts';
import { OperationResult } from './operation-result.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether what is answered, or changed, is one thing that has a version. */
    versioned?: boolean;
  }
  interface FastifyRequest {
    /** What `If-Match` wants to find; `undefined` without it. */
    ifMatch: ExpectedVersion | undefined;
  }
}

/** What follows the version may be another's, who sends it compressed and says so in the tag. */
const ETAG_VERSION = /^(?:W\/)?"([1-9]\d{0,14})\./;

/**
 * The answer of an operation that is `versioned`.
 * @param version of the one thing that the body tells of
 * @param location the path below the prefix of the area at which it can be read by itself: for what was created
 */
export function versionedResult<Body>(
  version: number,
  body: Body,
  { location }: { location?: string } = {},
): OperationResult<Body> {
  return new OperationResult(body, version, location === undefined ? {} : { location });
}

/**
 * Reads `If-Match` (RFC 9110, section 13.1.1) by the version alone: whoever may change a thing need not have read it as
 * the caller sees it, and what stands between may have made the tag weak.
 * @returns `undefined` without the header; no versions for one that is malformed, so that nothing matches it
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

/** The request headers of a versioned operation, as the description has them. */
export const CONDITIONAL_HEADERS = {
  'If-Match': text(
    'ETags, of which the version alone is compared, or `*`: the change is made only if the thing is of one of these versions.',
  ),
  'If-None-Match': text('ETags, or `*`: a 304 when the answer has one of them.'),
};

export const ETagHeader = {
  type: 'string',
  maxLength: 64,
  description: 'The version of the thing, and a digest of this answer.',
};

/** Of what was created and can be read by itself. */
export const LocationHeader = {
  type: 'string',
  maxLength: 4_096,
  description: 'Where it can be read by itself.',
};
