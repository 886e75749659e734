import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  type BrotliOptions,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  type ZlibOptions,
} from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { Semaphore } from '../lib/semaphore.ts';
import type { Operation } from './operation.ts';
import { JSON_TYPE, serializeBody } from './operation-result.ts';

/** Bytes of a body up to which compression saves less than it costs. */
export const COMPRESSION_THRESHOLD = 4 * 1024;
/** Bytes that a compressor takes while its client reads; measured: 0.65 MiB for Brotli, 0.4 for gzip. */
export const COMPRESSOR_MEMORY = 1024 * 1024;

const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const GZIP: ZlibOptions = { level: 1 };

/** Each chunk of a stream is sent at once: gzip would keep the first 128 KiB of rows until more follow. */
const createCompressor = {
  br: () => createBrotliCompress({ ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH }),
  gzip: () => createGzip({ ...GZIP, flush: constants.Z_SYNC_FLUSH }),
};

const [brotliAsync, gzipAsync] = [
  promisify<string, BrotliOptions, Buffer>(brotliCompress),
  promisify<string, ZlibOptions, Buffer>(gzip),
];
const compressText = {
  br: (text: string) => brotliAsync(text, BROTLI),
  gzip: (text: string) => gzipAsync(text, GZIP),
};

/** As many as libuv has threads: each further one would take 0.2 MiB and wait there. */
const compressions = new Semaphore({
  permits: 4,
  createError: (waiting) => new Error(`${waiting} responses are waiting to be compressed.`),
});

/** The types of Negotiator lack the second parameter. */
interface EncodingNegotiator {
  encoding(
    available: readonly string[],
    options: { preferred: readonly string[] },
  ): Encoding | 'identity' | undefined;
}

/**
 * Negotiates by `Accept-Encoding` (RFC 9110, section 12.5.3): Brotli rather than gzip where the client has no
 * preference.
 * @returns `undefined` for a body as it is, also where the client refuses that and everything else
 */
export function negotiateEncoding(accepted: string | undefined): Encoding | undefined {
  // Without the header, a client takes any encoding, but few that send none decode one.
  if (accepted === undefined) return undefined;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': accepted } }) as EncodingNegotiator;
  const encoding = negotiator.encoding([...ENCODINGS, 'identity'], { preferred: ENCODINGS });
  return encoding === 'identity' ? undefined : encoding;
}

/**
 * Whether the responses of an operation may be compressed: not those with a strong ETag, which names their bytes, with
 * a secret, which their size could reveal (BREACH), with a file, or with events.
 */
export function isCompressible({ versioned, hasSecret, responses }: Operation): boolean {
  return (
    versioned !== true &&
    hasSecret !== true &&
    Object.values(responses).some(({ schema }) => schema !== undefined)
  );
}

/**
 * Compresses a body of more than 4 KiB, or a stream, if the client accepts it.
 * @param body an object, JSON as text, or a stream; `undefined` without a body
 * @returns the body to send; `undefined` if the request was aborted meanwhile
 */
export async function compressBody(
  request: Pick<FastifyRequest, 'abortState' | 'headers' | 'method'>,
  reply: FastifyReply,
  body: unknown,
): Promise<unknown> {
  if (body === undefined) return undefined;
  reply.header('vary', 'Accept-Encoding');
  const { 'accept-encoding': accepted } = request.headers;
  if (accepted === undefined) return body;
  if (body instanceof Readable) {
    const encoding = negotiateEncoding(accepted);
    if (encoding === undefined) return body;
    reply.header('content-encoding', encoding);
    return request.method === 'HEAD' ? body : compressStream(reply, body, createCompressor[encoding]());
  }
  const text = typeof body === 'string' ? body : serializeBody(reply, body);
  // Fastify sends a string of this type as it is.
  reply.type(`${JSON_TYPE}; charset=utf-8`);
  if (Buffer.byteLength(text) <= COMPRESSION_THRESHOLD) return text;
  const encoding = negotiateEncoding(accepted);
  if (encoding === undefined) return text;
  const compressed = await compressions.run(() => compressText[encoding](text));
  // An error was sent at the timeout, so the header would be that of another body.
  if (request.abortState?.aborted === true) return undefined;
  reply.header('content-encoding', encoding);
  return compressed;
}

/** @returns the compressor, which is destroyed with its source, and its source with it */
function compressStream(
  reply: FastifyReply,
  source: Readable,
  compressor: ReturnType<(typeof createCompressor)[Encoding]>,
): Readable {
  source.once('error', () => {
    // The error is sent as a problem, which is not compressed.
    if (reply.raw.headersSent) return;
    reply.removeHeader('content-encoding');
    reply.raw.removeHeader('content-encoding');
  });
  // Whoever reads the compressor gets the error.
  return pipeline(source, compressor, () => undefined);
}
