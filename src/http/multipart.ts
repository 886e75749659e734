import type { Readable, Writable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { Problem } from './problems.ts';
import { formatSize } from '../lib/format-size.ts';

/** A part of a body. Its content must be read before the next part. */
export interface MultipartPart {
  name: string;
  /** Absent unless the part is a file. */
  filename: string | undefined;
  type: string;
  content: AsyncIterable<Uint8Array>;
}

interface MultipartOptions {
  /** Maximum size of the body. */
  maxBytes: number;
  maxParts: number;
  /** The response. Once it has been sent, the rest of the body is discarded. */
  response: Writable;
  signal: AbortSignal;
  onBytes(count: number): void;
}

/** Maximum bytes of the header lines of a part. */
const MAX_PART_HEADER_SIZE = 16 * 1024;
const MAX_HEADER_LINES = 20;

/**
 * Parses a `multipart/form-data` body (RFC 7578) as it arrives, no faster than its parts are read.
 * @throws Problem for a body that is malformed, too large or truncated, or has too many parts
 */
export async function* parseMultipart(
  body: Readable,
  contentType: string,
  { maxBytes, maxParts, response, signal, onBytes }: MultipartOptions,
): AsyncGenerator<MultipartPart> {
  const parser = createParser(contentType);
  const arrived: { part: MultipartPart; stream: Readable }[] = [];
  let parts = 0;
  let wake: () => void = () => undefined;
  let isWhole = false;
  let failure: Problem | undefined;
  const fail = (reason: Error) => {
    failure ??= reason instanceof Problem ? reason : invalidMultipart(reason);
    for (const { stream } of arrived) stream.destroy(failure);
    wake();
  };
  parser.on('file', (name: string | undefined, stream, filename: string | undefined, _encoding, type) => {
    // The reader of the part gets the error.
    stream.on('error', () => undefined);
    parts += 1;
    if (parts > maxParts)
      fail(new Problem('body-too-large', `The body has more than the ${maxParts} parts allowed.`));
    arrived.push({ part: { name: name ?? '', filename, type, content: stream }, stream });
    wake();
  });
  parser.on('error', (error) => fail(error as Error));
  parser.on('finish', () => {
    isWhole = true;
    wake();
  });

  let bytes = 0;
  body.on('data', (chunk: Buffer) => {
    onBytes(chunk.length);
    // Drains the rest, so that the response reaches a client that is still sending.
    if (failure !== undefined) return;
    bytes += chunk.length;
    if (bytes > maxBytes)
      fail(new Problem('body-too-large', `The body is larger than the limit of ${formatSize(maxBytes)}.`));
    else if (!parser.write(chunk)) body.pause();
  });
  parser.on('drain', () => body.resume());
  body.on('end', () => parser.end());
  body.on('error', fail);
  const breakOff = () => fail(new Error('The body is truncated.'));
  body.on('close', () => body.readableEnded || breakOff());
  response.on('close', () => isWhole || breakOff());
  const stop = () => fail(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });

  try {
    for (;;) {
      if (failure !== undefined) throw failure;
      const [current] = arrived;
      if (current !== undefined) {
        yield current.part;
        arrived.shift();
        // Unread content would block the next part.
        current.stream.resume();
      } else if (isWhole) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener('abort', stop);
    if (!isWhole) {
      fail(new Error('The body was not read to its end.'));
      body.resume();
    }
  }
}

function createParser(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // Treats all parts alike, to keep their order.
      isPartAFile: () => true,
      limits: { headerPairs: MAX_HEADER_LINES, headerSize: MAX_PART_HEADER_SIZE },
    });
  } catch (error) {
    throw invalidMultipart(error);
  }
}

function invalidMultipart(cause: unknown): Problem {
  return new Problem(
    'invalid-request',
    'The body is truncated or not valid multipart/form-data.',
    { source: 'Content-Type' },
    { cause },
  );
}
