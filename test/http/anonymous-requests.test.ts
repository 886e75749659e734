import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LogThrottle } from '../../src/http/log-throttle.ts';
import { eventually } from '../harness/eventually.ts';
import { startSecondServer, type TestServer, useSharedServer } from '../harness/server.ts';

const NOW = Date.UTC(2026, 10, 21);
const LONG_PATH = `/${'x'.repeat(15_000)}`;

let server: TestServer | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await server?.close();
  server = undefined;
});

async function start(rateLimit: number): Promise<TestServer> {
  server = await startSecondServer(await useSharedServer(() => NOW), {
    rateLimit,
    trustedProxies: ['127.0.0.1'],
  });
  return server;
}

/** Sends requests on one connection, the last of which closes it. @returns the status of each response */
async function pipeline({ origin }: TestServer, requests: readonly string[]): Promise<number[]> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  const closed = once(socket, 'close');
  for (const request of requests) if (!socket.write(request)) await once(socket, 'drain');
  await closed;
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

const lines = ({ logs }: TestServer, message: string) => logs().filter(({ msg }) => msg === message);

describe('The log', () => {
  it('gets a bounded number of bytes of requests with long paths', async () => {
    const strict = await start(100);
    const count = 5_000;
    const statuses = await pipeline(
      strict,
      Array.from(
        { length: count },
        (_, index) =>
          `GET ${LONG_PATH} HTTP/1.1\r\nHost: a\r\n${index === count - 1 ? 'Connection: close\r\n' : ''}\r\n`,
      ),
    );
    expect(statuses.filter((status) => status === 404)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4_900);
    await strict.close();
    server = undefined;
    const [first] = lines(strict, 'request');
    expect(first?.['path']).toBe(`${LONG_PATH.slice(0, 512)}…`);
    expect(JSON.stringify(strict.logs()).length).toBeLessThan(100_000);
    expect(lines(strict, 'repeated requests')).toMatchObject([
      { status: 429, address: '0.0.0.0', count: 4_899 },
    ]);
  });

  it('has one line per minute for rate-limited requests and for those without a limit', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const strict = await start(1);
    const from = (address: string, path: string) =>
      strict.request('GET', path, { headers: { 'x-forwarded-for': address } });
    for (let sent = 0; sent < 10; sent += 1) await from('192.0.2.1', '/sign-in');
    for (let sent = 0; sent < 3; sent += 1) await from(`2001:db8::${sent}`, '/sign-in');
    for (let sent = 0; sent < 5; sent += 1) await from('192.0.2.1', '/healthz');
    await eventually(() => expect(lines(strict, 'request')).toHaveLength(5));
    expect(lines(strict, 'repeated requests')).toEqual([]);
    vi.advanceTimersByTime(60_000);
    expect(lines(strict, 'repeated requests')).toMatchObject([
      { status: 429, address: '192.0.2.1', count: 8 },
      { status: 429, address: '2001:db8:0:0::/64', count: 1 },
      { status: 200, operation: 'healthz', address: '192.0.2.1', count: 4 },
    ]);
    vi.advanceTimersByTime(600_000);
    expect(lines(strict, 'repeated requests')).toHaveLength(3);
    expect((await from('192.0.2.1', '/sign-in')).status).toBe(429);
    await eventually(() => expect(lines(strict, 'request')).toHaveLength(6));
  });

  it('has one line a minute for malformed requests of an address', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const strict = await start(1);
    for (let sent = 0; sent < 4; sent += 1)
      expect(await pipeline(strict, ['nonsense\r\n\r\n'])).toEqual([400]);
    expect(lines(strict, 'malformed HTTP request')).toHaveLength(1);
    vi.advanceTimersByTime(60_000);
    expect(lines(strict, 'malformed HTTP request')[1]).toMatchObject({ address: '127.0.0.1', count: 3 });
  });

  it('has bounded state, however many addresses there are', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const written: [object, number][] = [];
    const throttle = new LogThrottle(60_000, (fields, count) => written.push([fields, count]));
    let first = 0;
    for (let key = 0; key < 30_000; key += 1) if (throttle.isFirst(String(key), { key })) first += 1;
    expect(first).toBe(10_000);
    vi.advanceTimersByTime(60_000);
    expect(written).toEqual([[{ others: true }, 20_000]]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('The rate limit of an address', () => {
  it.each([
    ['an unknown path', 'GET', '/nothing/here', 404],
    ['an unknown path of an area', 'GET', '/v1/nothing', 404],
    ['a path that is not a URL', 'GET', '/%ff', 400],
    ['a method that a path lacks', 'DELETE', '/healthz', 405],
    ['a method that an operation lacks', 'PATCH', '/v1/assessments/none/testing_hours', 405],
    ['a static file', 'GET', '/assets/assay.css', 200],
    ['a file of the console that does not exist', 'GET', '/console/files/none.js', 404],
    ['a file of the documentation', 'GET', '/docs/static/swagger-ui.css', 200],
    ['a preflight request', 'OPTIONS', '/oauth/token', 204],
    ['a redirect', 'GET', '/account', 303],
  ])('counts %s', async (_what, method, path, status) => {
    const strict = await start(2);
    // Other clients change `%ff`.
    const send = async () =>
      (await pipeline(strict, [`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`]))[0];
    expect([await send(), await send(), await send()]).toEqual([status, status, 429]);
  });

  it('is in the headers of the responses that it counts or rejects', async () => {
    const strict = await start(1);
    for (const [method, path] of [
      ['GET', '/nothing'],
      ['DELETE', '/healthz'],
    ] as const) {
      const from = { headers: { 'x-forwarded-for': method === 'GET' ? '192.0.2.1' : '192.0.2.2' } };
      const allowed = await strict.request(method, path, from);
      expect(allowed.headers.get('ratelimit')).toBe('"default";r=0;t=60');
      const rejected = await strict.request(method, path, from);
      expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '60']);
    }
  });

  it.each(['/healthz', '/readyz', '/metrics'])('does not count %s', async (path) => {
    const strict = await start(1);
    const get = async (target: string) =>
      (await strict.request('GET', target, { headers: { 'x-forwarded-for': '127.0.0.1' } })).status;
    for (let sent = 0; sent < 4; sent += 1) expect(await get(path)).toBe(200);
    expect(await get('/nothing')).toBe(404);
    expect(await get('/nothing')).toBe(429);
    expect(await get(path)).toBe(200);
  });
});
