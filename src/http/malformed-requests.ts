import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Context } from '../runtime/context.ts';
import { SERVER_AREA } from './areas.ts';
import { Problem, problemBody } from './problems.ts';

/** Answers requests that are not valid HTTP, have headers that are too large, or are sent too slowly. */
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
  log.info({ requestId, code: error.code, address: socket.remoteAddress }, 'malformed HTTP request');
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
}
