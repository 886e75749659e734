import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { networkPrefix, parseAddress } from '../auth/ip-addresses.ts';
import { SERVER_AREA } from './areas.ts';
import { UNKNOWN_ADDRESS } from './client-address.ts';
import { LogThrottle } from './log-throttle.ts';
import { Problem, problemBody } from './problems.ts';

const LOG_MILLISECONDS = 60_000;
const MESSAGE = 'malformed HTTP request';

/**
 * @param headers the headers of every response
 * @returns the handler of requests that are not valid HTTP, have headers that are too large, or are sent too slowly;
 *   they are logged once a minute for each address
 */
export function handleMalformedRequests(
  headers: Readonly<Record<string, string>>,
  { addresses, log }: Context,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  const throttle = new LogThrottle(LOG_MILLISECONDS, (last, count) => log.info({ ...last, count }, MESSAGE));
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = randomUUID();
    const address = networkPrefix(parseAddress(socket.remoteAddress ?? '') ?? UNKNOWN_ADDRESS);
    const fields = { code: error.code, address };
    if (throttle.isFirst(address, fields)) log.info({ requestId, ...fields }, MESSAGE);
    const problem =
      error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new Problem('request-timeout', 'The headers did not arrive in time. Send the whole request again.')
        : new Problem('invalid-request', 'The request is not valid HTTP, or its headers are too large.');
    const { type, body } = problemBody(problem, SERVER_AREA, {
      requestId,
      errorTypeBase: addresses.errorTypeBase,
    });
    const text = JSON.stringify(body);
    const lines = Object.entries({
      ...headers,
      'x-request-id': requestId,
      'content-type': type,
      'content-length': String(Buffer.byteLength(text)),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${text}`);
  };
}

/**
 * Headers with a single value. Node.js uses the first line and ignores the others; it rejects a repeated
 * `Content-Length`.
 */
const SINGLE_HEADERS = new Set(['host', 'authorization', 'content-type']);

/**
 * Reads all header lines, not the first 1,000 only: a proxy may append its own after those of the client. Rejects
 * requests that repeat a header with a single value (RFC 9110, section 5.3; `Host`: RFC 9112, section 3.2).
 * @param limit counts the rejected request; returns the problem to respond with instead, if there is one
 */
export function checkHeaderLines(
  app: FastifyInstance,
  limit: (request: FastifyRequest) => Problem | undefined,
): void {
  // The limit of their bytes (`--max-http-header-size`) stays.
  app.server.maxHeadersCount = 0;
  app.addHook('onRequest', (request, _reply, done) => {
    const repeated = findRepeated(request.raw.rawHeaders);
    if (repeated === undefined) done();
    else
      done(
        limit(request) ??
          new Problem('invalid-request', `The request has more than one ${repeated} header. Send one.`, {
            source: repeated,
          }),
      );
  });
}

/** @param lines names and values in turn */
function findRepeated(lines: readonly string[]): string | undefined {
  const seenNames = new Set<string>();
  for (let index = 0; index < lines.length; index += 2) {
    const name = lines[index] ?? '';
    const key = name.toLowerCase();
    if (!SINGLE_HEADERS.has(key)) continue;
    if (seenNames.has(key)) return name;
    seenNames.add(key);
  }
  return undefined;
}
