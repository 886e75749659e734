import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AbortState, StorageError } from '../db/database.ts';
import { Problem } from './problems.ts';

const MAX_SWEEP_INTERVAL = 1_000;

declare module 'fastify' {
  interface FastifyInstance {
    /** Restarts the timeout of a request whose body is still arriving. Absent where requests have no timeout. */
    extendRequestTimeout?: (reply: FastifyReply) => void;
  }
  interface FastifyRequest {
    /** Aborted once the client has disconnected, or the request has timed out; absent for requests within a process. */
    abortState: AbortState | undefined;
  }
}

/** Is read, not listened to, so that a request needs neither an event listener nor an AbortSignal. */
class RequestAbortState implements AbortState {
  readonly #request: FastifyRequest;
  hasTimedOut = false;

  constructor(request: FastifyRequest) {
    this.#request = request;
  }

  get aborted(): boolean {
    return this.hasTimedOut || this.#request.raw.socket.destroyed;
  }

  get account(): number | null | undefined {
    return this.#request.caller?.userId;
  }
}

/**
 * Answers requests that take longer than `timeout` milliseconds with 503, or with 408 if their body has not arrived
 * (RFC 9110, section 15.5.9), and aborts them. One timer serves all requests: a timer and an AbortController each took
 * about 6 % of a small request's time. Streamed responses have a timeout of their own, and so has the rest of a body
 * that is sent too slowly.
 */
export function enforceRequestTimeout(app: FastifyInstance, timeout: number): void {
  /** Deadline of each request, the earliest first. */
  const running = new Map<FastifyReply, number>();
  app.addHook('onRequest', (request, reply, done) => {
    request.abortState = new RequestAbortState(request);
    running.set(reply, performance.now() + timeout);
    done();
  });
  app.decorate('extendRequestTimeout', (reply: FastifyReply) => {
    if (running.delete(reply)) running.set(reply, performance.now() + timeout);
  });
  app.addHook('onResponse', (request, reply, done) => {
    running.delete(reply);
    const { raw } = request;
    // Injected requests have no socket.
    if (!raw.complete && raw.socket instanceof Socket)
      setTimeout(() => raw.complete || raw.socket.destroy(), timeout).unref();
    done();
  });
  const timer = setInterval(
    () => {
      const now = performance.now();
      for (const [reply, deadline] of running) {
        if (deadline > now) break;
        running.delete(reply);
        // A response that has begun may take longer.
        if (reply.sent || reply.raw.headersSent) continue;
        const { abortState } = reply.request;
        if (abortState instanceof RequestAbortState) abortState.hasTimedOut = true;
        void reply.send(timeoutError(reply.request, timeout));
      }
    },
    Math.min(MAX_SWEEP_INTERVAL, timeout / 4),
  ).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

function timeoutError({ raw }: FastifyRequest, timeout: number): Error {
  // If the handler does not read the body, the server is late, and not the client.
  const waitsForClient = !raw.complete && raw.readableFlowing === true;
  if (!waitsForClient) return new StorageError('unavailable', 'The request timed out.');
  return new Problem(
    'request-timeout',
    `The body did not arrive within ${timeout / 1_000} seconds. Send the whole request again.`,
    { headers: { connection: 'close' } },
  );
}
