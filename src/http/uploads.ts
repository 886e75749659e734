import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/callers.ts';
import type { Context } from '../context.ts';
import { acquireSlot, reserveMemory } from './account-limits.ts';
import { type MultipartPart, parseMultipart } from './multipart.ts';
import { Problem } from './problems.ts';
import { formatSize } from '../lib/format-size.ts';

/** Bytes that have to arrive within `Config.uploadTimeout`. */
const MIN_BYTES = 1024 * 1024;
/** Bytes of memory per upload: the fields, and received data that is not stored yet. */
const UPLOAD_MEMORY = 2 * 1024 * 1024;
/** Milliseconds between checks of the credential. */
const LIVENESS_INTERVAL = 10_000;

type UploadRequest = Pick<FastifyRequest, 'abortState' | 'headers' | 'isLive' | 'raw'> & {
  readonly caller: Caller;
};

interface UploadLimits {
  maxBytes: number;
  maxParts: number;
}

/**
 * Reads the parts of a `multipart/form-data` request as they arrive. Callers store the parts, so they must check access
 * first.
 * @throws Problem `rate-limited` if the account or its organization has too many uploads running, `request-timeout` if
 *   the client sends too slowly, `unauthorized` once the credential is no longer valid, and as `parseMultipart` does
 */
export async function* readUpload(
  context: Context,
  request: UploadRequest,
  reply: FastifyReply,
  { maxBytes, maxParts }: UploadLimits,
): AsyncGenerator<MultipartPart> {
  const { caller, headers, isLive, raw } = request;
  const { requestTimeout, uploadTimeout } = context.config;
  const release = acquireSlot(context, caller, 'upload');
  const stopping = new AbortController();
  let arrived = 0;
  /** Milliseconds spent waiting for the client since the last `MIN_BYTES`. */
  let waited = 0;
  let checkedAt = 0;
  let checkedCredentialAt = 0;
  const check = (): void => {
    const now = performance.now();
    // The time that the store takes is not the client's.
    if (!raw.isPaused() && !raw.readableEnded) {
      reply.server.extendRequestTimeout?.(reply);
      waited += now - checkedAt;
    }
    checkedAt = now;
    if (waited >= uploadTimeout)
      stopping.abort(
        new Problem(
          'request-timeout',
          `Less than 1 MiB of the body arrived in ${uploadTimeout / 1_000} seconds. Send the request again over a faster connection.`,
        ),
      );
    if (now - checkedCredentialAt < LIVENESS_INTERVAL) return;
    checkedCredentialAt = now;
    isLive().then(
      (isAccepted) =>
        isAccepted ||
        stopping.abort(new Problem('unauthorized', 'The credential became invalid during the upload.')),
      // The database is unavailable; the next check decides.
      () => undefined,
    );
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    await reserveMemory(context, request, reply, UPLOAD_MEMORY);
    checkedAt = performance.now();
    checkedCredentialAt = checkedAt;
    timer = setInterval(check, Math.min(1_000, requestTimeout / 4, uploadTimeout / 4)).unref();
    yield* parseMultipart(raw, headers['content-type'] ?? '', {
      maxBytes,
      maxParts,
      response: reply.raw,
      signal: stopping.signal,
      onBytes(count) {
        reply.server.extendRequestTimeout?.(reply);
        arrived += count;
        if (arrived < MIN_BYTES) return;
        arrived = 0;
        waited = 0;
      },
    });
  } finally {
    clearInterval(timer);
    release();
  }
}

/**
 * Passes the bytes of a file through.
 * @throws Problem `body-too-large` beyond `max` bytes
 */
export async function* limitFileSize(
  content: AsyncIterable<Uint8Array>,
  max: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > max)
      throw new Problem('body-too-large', `A file is larger than the limit of ${formatSize(max)}.`, {
        source: 'file',
      });
    yield chunk;
  }
}
