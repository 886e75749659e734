import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { reserveMemory } from './account-limits.ts';
import { Problem } from './problems.ts';
import { takeTurn } from '../lib/yield-to-event-loop.ts';
import { needsRawBody } from './idempotency.ts';

/** Body limits in bytes (docs/decided.md, section 3): for requests that name one object, and by default. */
export const SMALL_BODY_LIMIT = 64 * 1024;
export const MEDIUM_BODY_LIMIT = 1024 * 1024;

/** RFC 7396. */
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';

/** Characters that take a millisecond to parse. */
const LARGE_BODY = 64 * 1024;
/**
 * Bytes per value in a body of the maximum size: no body may have more values. A list of one-digit numbers has 2 bytes
 * per value.
 */
const MIN_BYTES_PER_VALUE = 8;
/** Bytes of memory per byte of a body, for its text and its parsed values. */
const MEMORY_FACTOR = 6;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body may be a JSON merge patch. */
    takesMergePatch?: boolean;
  }
}

/** Maximum nesting of arrays and objects. */
export const MAX_NESTING = 32;

/**
 * Accepts JSON bodies, and merge patches and `multipart/form-data` where the route does. An empty body counts as
 * absent, so that clients can always send the header. The memory for a large body is reserved before it is read.
 */
export function registerBodyParsers(app: FastifyInstance, context: Context): void {
  /** Maximum bytes of any body, even if the limit of its route is higher. */
  const largest = context.config.bodyLimit;
  app.addHook('onRoute', (route) => {
    if (route.bodyLimit !== undefined) route.bodyLimit = Math.min(route.bodyLimit, largest);
  });
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', async (request, reply) => {
    const isPatch = parseMediaType(request.headers['content-type']) === MERGE_PATCH_TYPE;
    if (isPatch && request.routeOptions.config.takesMergePatch !== true)
      throw new Problem(
        'unsupported-media-type',
        'The body must be JSON: send it with Content-Type: application/json.',
        { source: 'Content-Type' },
      );
    const size = bodySizeOf(request);
    if (size > SMALL_BODY_LIMIT && request.routeOptions.config.multipart !== true)
      await reserveMemory(context, request, reply, MEMORY_FACTOR * size);
  });
  app.addContentTypeParser(
    ['application/json', MERGE_PATCH_TYPE],
    { parseAs: 'string', bodyLimit: Math.min(MEDIUM_BODY_LIMIT, largest) },
    (request, payload, done) => {
      const body = payload as string;
      const parse = (): void => {
        try {
          if (request.routeOptions.config.multipart === true) throw multipartRequired();
          if (needsRawBody(request)) request.rawBody = body;
          done(null, parseJson(body, largest / MIN_BYTES_PER_VALUE));
        } catch (error) {
          done(error as Error);
        }
      };
      if (body.length > LARGE_BODY) void takeTurn().then(parse);
      else parse();
    },
  );
  app.addContentTypeParser('multipart/form-data', (request, payload, done) => {
    if (request.routeOptions.config.multipart === true) return done(null, payload);
    done(
      new Problem(
        'unsupported-media-type',
        'The body must be JSON: send it with Content-Type: application/json.',
        { source: 'Content-Type' },
      ),
    );
  });
}

/**
 * @returns the bytes of the body, at most the limit of the route; that limit if a body has no stated length, 0 without
 *   a body
 */
function bodySizeOf({ headers, routeOptions }: FastifyRequest): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  const limit = routeOptions.bodyLimit ?? MEDIUM_BODY_LIMIT;
  if (length === undefined) return encoding === undefined ? 0 : limit;
  return Math.min(Number(length), limit);
}

function multipartRequired(): Problem {
  return new Problem(
    'unsupported-media-type',
    'The body must be a file upload: send it with Content-Type: multipart/form-data.',
    { source: 'Content-Type' },
  );
}

/** Returns the media type of a `Content-Type`, in lower case. */
export function parseMediaType(header: string | undefined): string | undefined {
  return header?.split(';', 1)[0]?.trim().toLowerCase();
}

/**
 * Parses a body that may be hostile. `JSON.parse` treats `__proto__` as a plain property.
 * @param maxValues members, items, arrays and objects
 * @throws Problem if the body is not JSON, or, before parsing, if it is nested too deep or has too many values
 */
function parseJson(body: string, maxValues: number): unknown {
  const text = body.startsWith('\ufeff') ? body.slice(1) : body;
  if (text === '') return undefined;
  const excess = findExcess(text, { depth: MAX_NESTING, values: maxValues });
  if (excess === 'depth')
    throw new Problem('invalid-request', `The body is nested more than ${MAX_NESTING} levels deep.`);
  if (excess === 'values')
    throw new Problem('body-too-large', `The body has more than the ${maxValues} values allowed.`);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Problem('invalid-request', 'The body is not valid JSON.', {}, { cause: error });
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Reads no further than to the first bracket or comma that is too many. Those in strings do not count.
 * @param limits `depth`: of arrays and objects; `values`: members, items, arrays and objects
 */
export function findExcess(
  text: Pick<string, 'length' | 'charCodeAt'>,
  limits: { depth: number; values: number },
): 'depth' | 'values' | undefined {
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === COMMA) {
      values += 1;
      if (values > limits.values) return 'values';
    } else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      depth += 1;
      values += 1;
      if (depth > limits.depth) return 'depth';
      if (values > limits.values) return 'values';
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
  }
  return undefined;
}
