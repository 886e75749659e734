import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../auth/callers.ts';
import type { ReadConnection } from '../db/database.ts';
import { watchRoles } from '../domain/shared/permissions.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the server begins to shut down. Absent in an app that does not listen. */
    closing?: AbortSignal;
  }
}

/** Interval at which idle connections are closed during shutdown, in ms. */
const SWEEP_MILLISECONDS = 50;

/**
 * Ends streams when the server shuts down, and closes each connection after its last response. Node closes only
 * connections that are idle at the start of the shutdown, and does not count unused ones, which browsers open ahead.
 * @param closeUnused closes connections that have sent nothing yet
 */
export function closeStreamsOnShutdown(app: FastifyInstance, closeUnused: () => void): void {
  const closing = new AbortController();
  app.decorate('closing', closing.signal);
  app.addHook('preClose', (done) => {
    closing.abort();
    if (app.server.listening) {
      const sweep = setInterval(() => {
        app.server.closeIdleConnections();
        closeUnused();
      }, SWEEP_MILLISECONDS);
      app.server.once('close', () => clearInterval(sweep));
    }
    done();
  });
}

/** Interval at which a stream checks its rights, in ms: it ends at most 15 s after a credential or a role does. */
const LIVENESS_MILLISECONDS = 10_000;

/**
 * @param isLive of the request
 * @returns whether the credential is still valid, with the same rights and all roles that its user has now
 */
export async function watchRights(
  db: ReadConnection,
  caller: Pick<Caller, 'staff' | 'admin' | 'userId'>,
  isLive: () => Promise<boolean>,
): Promise<() => Promise<boolean>> {
  const hasRoles = await watchRoles(db, caller);
  return async () => (await isLive()) && (await hasRoles());
}

interface StreamOptions {
  /** How long the client may stop reading, in ms. */
  timeout: number;
  /** @returns whether the stream may go on: see `watchRights` */
  isLive(): Promise<boolean>;
  /** Whether the source may pause for longer; then only unread data counts towards the timeout. */
  mayBeIdle?: boolean;
  /** Called once, however the stream ends. */
  onEnd?: (() => void) | undefined;
}

/**
 * Streams a response as it is produced, no faster than the client reads. Destroys the stream when the client stops
 * reading for too long, its credential becomes invalid, or its caller loses a role.
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
        readable.destroy(
          new Error(
            isMaking
              ? 'The source of the response did not continue in time.'
              : 'The client stopped reading the response.',
          ),
        );
      if (now - checked < LIVENESS_MILLISECONDS) return;
      checked = now;
      isLive().then(
        (isAccepted) =>
          isAccepted ||
          readable.destroy(new Error('The credential is no longer valid, or its user lost a role.')),
        // The database is unavailable; the next check decides.
        () => undefined,
      );
    },
    Math.min(1_000, timeout / 4),
  ).unref();
  return readable;
}

/** Ignores errors, as nothing reads the result. */
async function closeIterator(iterator: AsyncIterator<string | Uint8Array>): Promise<void> {
  await iterator.return?.(undefined).catch(() => undefined);
}
