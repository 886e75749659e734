import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Context } from '../runtime/context.ts';
import { SERVER_AREA } from './areas.ts';
import { Problem, problemBody } from './problems.ts';

/** Answers what is not even HTTP, has headers that are too large, or came too slowly: there is no path to go by. */
export function handleMalformedRequest(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Readonly<Record<string, string>>,
  { addresses, log }: Context,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  log.info(
    { requestId, code: error.code, address: socket.remoteAddress },
    'a request that is not valid HTTP',
  );
  const problem = new Problem(
    'invalid-request',
    'The request is not valid HTTP, its headers are too large, or it came too slowly.',
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
}
