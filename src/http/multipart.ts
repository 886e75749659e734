import type { Readable, Writable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { Problem } from './problems.ts';

/** One part of a body, whose content is read before the next part comes. */
export interface MultipartPart {
  name: string;
  /** Absent of what is no file. */
  filename: string | undefined;
  /** As it was sent. */
  type: string;
  content: AsyncIterable<Uint8Array>;
}

interface MultipartOptions {
  /** Bytes that the whole body may have. */
  maxBytes: number;
  maxParts: number;
  /** The answer: once that is given, nobody waits for the rest. */
  response: Writable;
  /** Called when bytes arrive. */
  onBytes(): void;
}

/** Bytes of the lines before a part's content. */
const MAX_PART_HEADER_SIZE = 16 * 1024;
const MAX_HEADER_LINES = 20;

/**
 * Reads a body of `multipart/form-data` (RFC 7578) as it arrives, and no faster than its parts are read.
 * @throws Problem for a body that is no such, is too large, has too many parts, or breaks off
 */
export async function* parseMultipart(
  body: Readable,
  contentType: string,
  { maxBytes, maxParts, response, onBytes }: MultipartOptions,
): AsyncGenerator<MultipartPart> {
  const parser = createParser(contentType);
  const arrived: { part: MultipartPart; stream: Readable }[] = [];
  let wake: () => void = () => undefined;
  let isWhole = false;
  let failure: Problem | undefined;
  const fail = (reason: Error) => {
    failure ??= reason instanceof Problem ? reason : invalidMultipart(reason);
    for (const { stream } of arrived) stream.destroy(failure);
    wake();
  };
  parser.on('file', (name: string | undefined, stream, filename: string | undefined, _encoding, type) => {
    // Whoever reads it is told as well.
    stream.on('error', () => undefined);
    if (arrived.length === maxParts)
      fail(new Problem('body-too-large', `The body has more than ${maxParts} parts.`));
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
    onBytes();
    // The rest is dropped as it comes, so that the answer reaches who still sends.
    if (failure !== undefined) return;
    bytes += chunk.length;
    if (bytes > maxBytes)
      fail(new Problem('body-too-large', `The body has more than ${maxBytes} bytes, which is the limit.`));
    else if (!parser.write(chunk)) body.pause();
  });
  parser.on('drain', () => body.resume());
  body.on('end', () => parser.end());
  body.on('error', fail);
  const breakOff = () => fail(new Error('The body broke off.'));
  body.on('close', () => body.readableEnded || breakOff());
  response.on('close', () => isWhole || breakOff());

  try {
    for (let next = 0; ;) {
      if (failure !== undefined) throw failure;
      const current = arrived[next];
      if (current !== undefined) {
        next += 1;
        yield current.part;
        // What nobody read would be in the way of the next.
        current.stream.resume();
      } else if (isWhole) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    if (!isWhole) {
      fail(new Error('Nobody reads the body any more.'));
      body.resume();
    }
  }
}

function createParser(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // Every part is read alike, in their order.
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
    'The body is not multipart/form-data that can be read, or it broke off.',
    { source: 'Content-Type' },
    { cause },
  );
}
