import { once } from 'node:events';
import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fastify from 'fastify';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { compressBody } from '../../src/http/compression.ts';
import { streamResponse } from '../../src/http/streams.ts';
import { yieldToEventLoop } from '../../src/lib/yield-to-event-loop.ts';
import { beginEncoded, getEncoded } from '../harness/encoded-response.ts';
import { eventually } from '../harness/eventually.ts';
import { gate } from '../harness/gate.ts';

describe('A compressed stream', () => {
  /** Serves the chunks at every path. */
  async function serve(chunks: () => AsyncIterable<string>, timeout = 60_000) {
    const app = fastify();
    app.decorateRequest('abortState', undefined);
    app.get('/', (request, reply) =>
      compressBody(request, reply, streamResponse(chunks(), { timeout, isLive: async () => true })),
    );
    app.setErrorHandler((_error, _request, reply) => reply.code(503).send({ code: 'failed' }));
    onTestFinished(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  }
  const random = () => Array.from({ length: 4_000 }, () => Math.random().toString(36)).join('');

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('sends rows before others follow: %s', async (encoding, decompress) => {
    const end = gate();
    const origin = await serve(async function* () {
      yield 'id,name\r\n';
      await end.opened;
      yield '1,First\r\n';
    });
    const response = await beginEncoded(origin, encoding);
    const received: Buffer[] = [];
    response.on('data', (chunk: Buffer) => received.push(chunk));
    const options = { finishFlush: encoding === 'br' ? 1 : 2 };
    await eventually(() =>
      expect(decompress(Buffer.concat(received), options).toString()).toBe('id,name\r\n'),
    );
    end.open();
    await once(response, 'end');
    expect(decompress(Buffer.concat(received)).toString()).toBe('id,name\r\n1,First\r\n');
  });

  it.each(['br', 'gzip'])('that fails is not complete: %s', async (encoding) => {
    const failure = gate();
    const origin = await serve(async function* () {
      yield 'id,name\r\n';
      await failure.opened;
      throw new Error('The rights ended.');
    });
    const response = await beginEncoded(origin, encoding);
    const received = response.toArray();
    failure.open();
    await expect(received).rejects.toThrow('aborted');
    expect(response.complete).toBe(false);
  });

  it('that fails at once is a plain error', async () => {
    // eslint-disable-next-line require-yield -- it fails before its first row
    const origin = await serve(async function* () {
      await yieldToEventLoop();
      throw new Error('The database is unavailable.');
    });
    const { status, used, text } = await getEncoded(origin, 'br');
    expect([status, used, JSON.parse(text)]).toEqual([503, undefined, { code: 'failed' }]);
  });

  it('ends with its client', async () => {
    let hasEnded = false;
    const origin = await serve(async function* () {
      try {
        for (;;) {
          yield random();
          await yieldToEventLoop();
        }
      } finally {
        hasEnded = true;
      }
    });
    const response = await beginEncoded(origin, 'br');
    response.on('error', () => undefined).resume();
    await once(response, 'data');
    response.destroy();
    await eventually(() => expect(hasEnded).toBe(true));
  });

  it('is made no faster than it is read, and ends if it is not read', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let produced = 0;
    let hasEnded = false;
    const origin = await serve(async function* () {
      try {
        for (;;) {
          const text = random();
          produced += text.length;
          yield text;
          await yieldToEventLoop();
        }
      } finally {
        hasEnded = true;
      }
    }, 30_000);
    const response = await beginEncoded(origin, 'br');
    response.on('error', () => undefined);
    await eventually(async () => {
      await vi.advanceTimersByTimeAsync(1_000);
      expect(hasEnded).toBe(true);
    });
    // What fits into the buffers of two sockets.
    expect(produced).toBeLessThan(64 * 1024 * 1024);
    await expect(response.toArray()).rejects.toThrow('aborted');
  });

  it('of an empty list is a complete, empty stream', async () => {
    const app = fastify();
    app.decorateRequest('abortState', undefined);
    app.get('/', (request, reply) => compressBody(request, reply, Readable.from([])));
    onTestFinished(() => app.close());
    const { status, used, text } = await getEncoded(await app.listen({ port: 0, host: '127.0.0.1' }), 'gzip');
    expect([status, used, text]).toEqual([200, 'gzip', '']);
  });
});
