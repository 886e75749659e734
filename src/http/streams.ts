import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the server begins to close; absent where none listens. */
    closing?: AbortSignal;
  }
}

/** How often connections are looked for that have become idle while the server closes, in ms. */
const SWEEP_MILLISECONDS = 50;

/**
 * Tells streams that would go on for ever that the server closes, and ends each connection once its last answer is
 * written: Node closes those that are idle then, and one that becomes so later would stay for as long as its client likes.
 * So would one on which nothing was asked yet, which is not idle to Node; browsers connect ahead.
 */
export function closeStreamsOnShutdown(app: FastifyInstance): void {
  const closing = new AbortController();
  app.decorate('closing', closing.signal);
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  app.addHook('preClose', (done) => {
    closing.abort();
    if (app.server.listening) {
      const sweep = setInterval(() => {
        app.server.closeIdleConnections();
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      }, SWEEP_MILLISECONDS);
      app.server.once('close', () => clearInterval(sweep));
    }
    done();
  });
}

/** Live streams look at their credential as often, in ms: they end within 15 s of it. */
const LIVENESS_MILLISECONDS = 10_000;

interface StreamOptions {
  /** How long a reader may take nothing, in ms. */
  timeout: number;
  /** @returns whether the credential of the request is still good */
  isLive(): Promise<boolean>;
  /** Whether there may be nothing to tell for as long; then only what waits to be read counts. */
  mayBeIdle?: boolean;
  /** Called once, whichever way the stream ends. */
  onEnd?: () => void;
}

/**
 * An answer that is written as it is made, and no faster than it is read. It breaks off when nobody reads for too long,
 * or when the credential that it was asked for with has ended.
 */
export function streamResponse(
  chunks: AsyncIterable<string | Uint8Array>,
  { timeout, isLive, mayBeIdle = false, onEnd }: StreamOptions,
): Readable {
  const iterator = chunks[Symbol.asyncIterator]();
  let moved = performance.now();
  let isMaking = false;
  const readable = new Readable({
    highWaterMark: 256 * 1024,
    read() {
      moved = performance.now();
      isMaking = true;
      iterator.next().then(
        ({ done, value }) => {
          moved = performance.now();
          isMaking = false;
          readable.push(done === true ? null : value);
        },
        (error: Error) => readable.destroy(error),
      );
    },
    destroy(error, callback) {
      clearInterval(timer);
      onEnd?.();
      void closeIterator(iterator);
      callback(error);
    },
  });
  let checked = performance.now();
  const timer = setInterval(
    () => {
      const now = performance.now();
      if (now - moved > timeout && !(mayBeIdle && isMaking))
        readable.destroy(new Error('Nobody reads the answer.'));
      if (now - checked < LIVENESS_MILLISECONDS) return;
      checked = now;
      isLive().then(
        (live) => live || readable.destroy(new Error('The credential has ended.')),
        // The database does not answer: the next look will tell.
        () => undefined,
      );
    },
    Math.min(1_000, timeout / 4),
  ).unref();
  return readable;
}

/** What the iterator still reads is nobody's any more. */
async function closeIterator(iterator: AsyncIterator<string | Uint8Array>): Promise<void> {
  await iterator.return?.(undefined).catch(() => undefined);
}

/** Lets whatever waits in the event loop go first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
