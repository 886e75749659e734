import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatEtag, matchesEtag } from './etags.ts';

export const JSON_TYPE = 'application/json';

export class OperationResult<Body> {
  /** Absent if the result has only `text`, as that of a replay or of a page of a list. */
  readonly body: Body | undefined;
  /** Version of the one object in the body; `null` otherwise. */
  readonly version: number | null;
  /** `location` is a path relative to the prefix of the area. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as sent, if already serialized. */
  readonly text: string | undefined;
  /** Whether it is the stored response of an earlier request. */
  readonly isReplay: boolean;

  constructor(
    body: Body | undefined,
    version: number | null,
    headers: Readonly<Record<string, string>>,
    { text, isReplay = false }: { text?: string; isReplay?: boolean } = {},
  ) {
    this.body = body;
    this.version = version;
    this.headers = headers;
    this.text = text;
    this.isReplay = isReplay;
  }
}

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

export function withHeaders<Body>(
  body: Body,
  headers: Readonly<Record<string, string>>,
): OperationResult<Body> {
  return new OperationResult(body, null, headers);
}

export function toOperationResult<Body>(result: Body | OperationResult<Body>): OperationResult<Body> {
  return result instanceof OperationResult ? result : new OperationResult(result, null, {});
}

/** Serializes the body with the schema of the reply's status. */
export function serializeBody(reply: FastifyReply, body: unknown): string {
  const serialize = reply.getSerializationFunction(String(reply.statusCode), JSON_TYPE);
  if (serialize === undefined)
    throw new Error(`No response body is declared for the status ${reply.statusCode}.`);
  return serialize(body as Record<string, unknown>);
}

/**
 * Applies a result to the reply. A versioned object gets an ETag, whose digest is that of the text sent; a GET of
 * what the client already has becomes a 304.
 * @param addressOf resolves a path relative to the area
 * @returns the body to send; `undefined` for a 304
 */
export function applyResult(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, version, headers, text }: OperationResult<unknown>,
  addressOf: (path: string) => string,
): unknown {
  for (const name in headers) {
    const value = headers[name];
    reply.header(name, name === 'location' && value !== undefined ? addressOf(value) : value);
  }
  if (version === null && text === undefined) return body;
  const sent = text ?? serializeBody(reply, body);
  if (version !== null) {
    const tag = formatEtag(version, sent);
    reply.header('etag', tag);
    if (request.method === 'GET' || request.method === 'HEAD') {
      reply.header('cache-control', 'private, no-cache');
      // Fastify would give a HEAD without a body a Content-Length of its own.
      if (request.method === 'GET' && matchesEtag(request.headers['if-none-match'], tag)) {
        reply.code(304);
        return undefined;
      }
    }
  }
  // Fastify sends a string of this type as it is.
  reply.type(`${JSON_TYPE}; charset=utf-8`);
  return sent;
}
