import dns from 'node:dns';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import fastify from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { listen } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { maxConnections, parseOpenFileLimit } from '../../src/http/connection-limits.ts';
import { eventually } from '../harness/eventually.ts';
import { startSecondServer, type TestServer, useSharedServer } from '../harness/server.ts';

const sockets: Socket[] = [];
let server: TestServer | undefined;
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
  server = undefined;
});

async function start(overrides: Parameters<typeof startSecondServer>[1] = {}): Promise<TestServer> {
  server = await startSecondServer(await useSharedServer(), overrides);
  return server;
}

function open({ origin }: Pick<TestServer, 'origin'>): Socket {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  // A connection that is destroyed at once may be reset.
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** @returns the status of a request on its own connection; `undefined` if that closes without a response */
async function sendRequest(socket: Socket): Promise<string | undefined> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  // The connection may also be reset.
  await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => undefined);
  return /^HTTP\/1\.1 (\d+)/.exec(received)?.[1];
}

const closings = ({ logs }: TestServer) => logs().filter((line) => line['msg'] === 'connections closed');

describe('Connections of an address', () => {
  it('are closed at once beyond the maximum, until another one ends', async () => {
    const strict = await start({ maxConnectionsPerAddress: 3 });
    const [first, ...otherSockets] = [open(strict), open(strict), open(strict)];
    for (const socket of [first, ...otherSockets]) expect(await sendRequest(socket as Socket)).toBe('200');
    for (let sent = 0; sent < 3; sent += 1) expect(await sendRequest(open(strict))).toBeUndefined();
    expect(closings(strict)).toMatchObject([
      { reason: 'connections of the address', address: '127.0.0.1', count: 1 },
    ]);
    first?.destroy();
    await eventually(async () => expect(await sendRequest(open(strict))).toBe('200'));
  });

  it('are not limited for a trusted proxy', async () => {
    const trusting = await start({ maxConnectionsPerAddress: 1, trustedProxies: ['127.0.0.0/8'] });
    for (let sent = 0; sent < 3; sent += 1) expect(await sendRequest(open(trusting))).toBe('200');
  });

  it('are 256 by default', () => {
    expect(loadConfig({}, {}).maxConnectionsPerAddress).toBe(256);
    expect(() => loadConfig({}, { ASSAY_MAX_CONNECTIONS_PER_ADDRESS: '0' })).toThrow(/from 1 to/);
  });
});

type Done = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void;

it('A server listens on one address of localhost, as the limits hold only there', async () => {
  const { lookup } = dns;
  // The machine may have only one of them. Fastify would listen on all that exist.
  vi.spyOn(dns, 'lookup').mockImplementation(((name: string, options: dns.LookupAllOptions, done: Done) =>
    name === 'localhost' && options.all
      ? done(
          null,
          ['127.0.0.1', '127.0.0.2', '::1'].map((address) => ({ address, family: isIP(address) })),
        )
      : lookup(name, options, done)) as typeof lookup);
  const app = fastify();
  try {
    const port = await listen(app, { host: 'localhost', port: 0 });
    expect(app.addresses()).toEqual([expect.objectContaining({ port })]);
  } finally {
    await app.close();
  }
});

it('A connection that sends nothing for 10 seconds is closed, and one that sent a byte is not', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const slow = await start();
  const [silent, speaking] = [open(slow), open(slow)];
  const ends = [silent, speaking].map((socket) => once(socket, 'close'));
  speaking.write('G');
  // The server has accepted both, as it responds to a later one.
  expect(await sendRequest(open(slow))).toBe('200');
  vi.advanceTimersByTime(9_000);
  expect(await sendRequest(open(slow))).toBe('200');
  expect(closings(slow)).toEqual([]);
  vi.advanceTimersByTime(3_000);
  await ends[0];
  expect(closings(slow)).toMatchObject([{ reason: 'silent', address: '127.0.0.1', count: 1 }]);
  speaking.write('ET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(String((await once(speaking, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);
  expect((await slow.request('GET', '/metrics')).text).toMatch(/^assay_connections_closed_total 1$/m);
});

describe('Connections of the process', () => {
  it.each([
    [1_048_576, 786_432],
    [1_024, 768],
    [400, 300],
    [128, 64],
    [64, 1],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ])('leave some of %d open files to everything else: at most %d', (files, limit) => {
    expect(maxConnections(files)).toBe(limit);
  });

  it.each([
    [
      'Max file size   unlimited  unlimited  bytes\nMax open files            1024      4096      files',
      1_024,
    ],
    ['Max open files            unlimited            unlimited            files', Number.POSITIVE_INFINITY],
    ['', Number.POSITIVE_INFINITY],
  ])('are limited by the soft limit of %j', (text, files) => {
    expect(parseOpenFileLimit(text)).toBe(files);
  });
});
