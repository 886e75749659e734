import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { StorageError } from '../db/engine.ts';

const MAX_SWEEP_INTERVAL = 1_000;

declare module 'fastify' {
  interface FastifyInstance {
    /** Gives a request as long as it had at first, because bytes of its body have come; where requests have a deadline. */
    extendRequestTimeout?: (reply: FastifyReply) => void;
  }
}

/**
 * Answers a request that is not answered after `timeout` milliseconds with 503. What it began goes on, and its result
 * is dropped. One timer looks after all requests: one each, with a signal to abort it, took about 6 % of a small request's time.
 * A stream that is being sent has a deadline of its own, and so has the rest of a body that came too slowly.
 */
export function enforceRequestTimeout(app: FastifyInstance, timeout: number): void {
  /** When each request must be answered; the oldest comes first. */
  const running = new Map<FastifyReply, number>();
  app.addHook('onRequest', (_request, reply, done) => {
    running.set(reply, performance.now() + timeout);
    done();
  });
  app.decorate('extendRequestTimeout', (reply: FastifyReply) => {
    if (running.delete(reply)) running.set(reply, performance.now() + timeout);
  });
  app.addHook('onResponse', (request, reply, done) => {
    running.delete(reply);
    const { raw } = request;
    // A request of this process has no socket.
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
        if (!reply.sent && !reply.raw.headersSent)
          void reply.send(new StorageError('The request took too long.'));
      }
    },
    Math.min(MAX_SWEEP_INTERVAL, timeout / 4),
  ).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}
