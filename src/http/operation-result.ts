import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatEtag, matchesEtag } from './entity-tags.ts';

export const JSON_TYPE = 'application/json';

/** What a handler answers where that is more than a body. */
export class OperationResult<Body> {
  /** Absent in an answer that was given before. */
  readonly body: Body | undefined;
  /** Of the one thing that the body tells of; `null` for anything else. */
  readonly version: number | null;
  /** Texts by name. `location` is a path below the prefix of the area. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it is sent, where that is known already. */
  readonly text: string | undefined;
  /** Whether it was given to an earlier request. */
  readonly isRepeat: boolean;

  constructor(
    body: Body | undefined,
    version: number | null,
    headers: Readonly<Record<string, string>>,
    { text, isRepeat = false }: { text?: string; isRepeat?: boolean } = {},
  ) {
    this.body = body;
    this.version = version;
    this.headers = headers;
    this.text = text;
    this.isRepeat = isRepeat;
  }
}

/** An answer of several things, with headers of its own. */
export function withHeaders<Body>(
  body: Body,
  headers: Readonly<Record<string, string>>,
): OperationResult<Body> {
  return new OperationResult(body, null, headers);
}

export function toOperationResult<Body>(answer: Body | OperationResult<Body>): OperationResult<Body> {
  return answer instanceof OperationResult ? answer : new OperationResult(answer, null, {});
}

/** @returns the body as the route sends it with the status that the reply has */
export function serializeBody(reply: FastifyReply, body: unknown): string {
  const serialize = reply.getSerializationFunction(String(reply.statusCode), JSON_TYPE);
  if (serialize === undefined) throw new Error(`No body is declared for the status ${reply.statusCode}.`);
  return serialize(body as Record<string, unknown>);
}

/**
 * Gives the reply the headers of an answer. Of one thing there is an entity tag, whose digest is that of the very text
 * which is sent; a GET of what the client has already becomes a 304.
 * @param addressOf what stands for a path below the prefix of the area
 * @returns what is to be sent; nothing for a 304
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
      // Fastify would give a HEAD without a body a length of its own.
      if (request.method === 'GET' && matchesEtag(request.headers['if-none-match'], tag)) {
        reply.code(304);
        return undefined;
      }
    }
  }
  // A text of this type is sent as it is.
  reply.type(`${JSON_TYPE}; charset=utf-8`);
  return sent;
}
