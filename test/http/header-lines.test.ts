import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFixtures } from '../harness/fixtures.ts';
import { startSecondServer, type TestServer, useSharedServer } from '../harness/server.ts';

const NOW = Date.UTC(2026, 10, 21);
/** More than the lines that Node.js keeps by default, within its 16 KiB. */
const MANY_LINES = Array.from({ length: 1_100 }, () => 'a: b');

let server: TestServer;
beforeAll(async () => {
  server = await startSecondServer(await useSharedServer(() => NOW), { trustedProxies: ['127.0.0.1'] });
});
afterAll(() => server.close());

/** Sends a request as a proxy would write it. @returns the status and the body */
async function send(path: string, lines: readonly string[]): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(server.origin);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  socket.write([`GET ${path} HTTP/1.1`, 'Connection: close', ...lines, '', ''].join('\r\n'));
  await once(socket, 'close');
  const [head = '', body = ''] = received.split('\r\n\r\n', 2);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), body };
}

describe('The address of a client', () => {
  it.each([
    ['outside', ['X-Forwarded-For: 192.0.2.1'], 403],
    ['outside, behind 1,100 other lines', [...MANY_LINES, 'X-Forwarded-For: 192.0.2.1'], 403],
    ['outside, in the last of two lines', ['X-Forwarded-For: 127.0.0.1', 'X-Forwarded-For: 192.0.2.1'], 403],
    ['that the proxy does not name', [], 403],
    ['that only Forwarded names', ['Forwarded: for=127.0.0.1'], 403],
    ['on the machine of the proxy', ['X-Forwarded-For: 127.0.0.1'], 200],
  ])('%s decides about metrics', async (_client, lines, status) => {
    expect((await send('/metrics', ['Host: a', ...lines])).status).toBe(status);
  });

  it('is named in the refusal of metrics if it is missing', async () => {
    expect((await send('/metrics', ['Host: a'])).body).toContain('X-Forwarded-For');
  });

  it.each([
    ['outside, behind 1,100 other lines', [...MANY_LINES, 'X-Forwarded-For: 192.0.2.1'], 403],
    ['that the proxy does not name', [], 403],
    ['on the list', [...MANY_LINES, 'X-Forwarded-For: 127.0.0.1'], 200],
  ])('%s decides about a token for some addresses', async (_client, lines, status) => {
    const fixtures = createFixtures(server);
    const { token } = await fixtures.token((await fixtures.user()).id, { allowedAddresses: ['127.0.0.1'] });
    const sent = await send('/v1/tokens', ['Host: a', `Authorization: Bearer ${token}`, ...lines]);
    expect(sent.status).toBe(status);
  });
});

describe('A request with two lines', () => {
  it.each([
    ['Host', ['Host: a', 'Host: a']],
    ['Host', ['Host: a', 'host: b']],
    ['Host', ['Host: a', ...MANY_LINES, 'Host: b']],
    ['Authorization', ['Host: a', 'Authorization: Bearer a', 'Authorization: Bearer b']],
    ['Content-Type', ['Host: a', 'Content-Type: text/plain', 'Content-Type: application/json']],
    ['Content-Length', ['Host: a', 'Content-Length: 0', 'Content-Length: 0']],
  ])('of %s is a 400', async (_name, lines) => {
    const paths = ['/healthz', '/v1/tokens', '/sign-in', '/unknown'];
    const responses = await Promise.all(paths.map((path) => send(path, lines)));
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  });

  it('says which one is repeated', async () => {
    const { body } = await send('/v1/tokens', ['Host: a', 'Host: b']);
    expect(body).toContain('more than one Host header');
  });

  it('of a list is accepted', async () => {
    const lines = ['Host: a', 'Accept: text/html', 'Accept: */*', 'If-None-Match: "a"', 'If-None-Match: "b"'];
    expect((await send('/healthz', lines)).status).toBe(200);
  });
});

it('counts requests with repeated lines by address', async () => {
  const strict = await startSecondServer(server, { trustedProxies: ['127.0.0.1'], rateLimit: 1 });
  const before = server;
  server = strict;
  try {
    const lines = ['Host: a', 'Host: b', 'X-Forwarded-For: 192.0.2.9'];
    expect((await send('/sign-in', lines)).status).toBe(400);
    expect((await send('/sign-in', lines)).status).toBe(429);
  } finally {
    server = before;
    await strict.close();
  }
});
