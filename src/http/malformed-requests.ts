import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Context } from '../runtime/context.ts';
import { networkPrefix, parseAddress } from '../auth/ip-addresses.ts';
import { SERVER_AREA } from './areas.ts';
import { LogThrottle } from './log-throttle.ts';
import { Problem, problemBody } from './problems.ts';

const LOG_MILLISECONDS = 60_000;
const MESSAGE = 'malformed HTTP request';

/**
 * @param headers of every answer
 * @returns the handler of requests that are not valid HTTP, have headers that are too large, or are sent too slowly; they
 *   are logged once a minute for each address
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
    const address = networkPrefix(parseAddress(socket.remoteAddress ?? '') ?? '0.0.0.0');
    const about = { code: error.code, address };
    if (throttle.isFirst(address, about)) log.info({ requestId, ...about }, MESSAGE);
    const problem = new Problem(
      'invalid-request',
      'The request is not valid HTTP, its headers are too large, or it was sent too slowly.',
    );
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
    socket.end(`HTTP/1.1 ${problem.status} Bad Request\r\n${lines.join('')}\r\n${text}`);
  };
}
