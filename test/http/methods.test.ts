import type { RouteOptions } from 'fastify';
import { expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { useSharedServer } from '../harness/server.ts';

/** The level of pino. */
const ERROR = 50;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

/** The methods of each path. */
const paths = new Map<string, Set<string>>();
const server = await useSharedServer();
const remember = ({ url, method }: RouteOptions) => {
  // An encoded colon has a route of its own.
  if (url.includes('(')) return;
  const path = url
    .split('::')
    .map((part) => part.replace(/:\w+/g, '1').replace('*', 'unknown'))
    .join(':');
  const methods = [method].flat();
  // A route for HEAD comes with one for GET, which Fastify does not report for `/docs/`.
  paths.set(
    path,
    new Set([...(paths.get(path) ?? []), ...methods, ...(methods.includes('HEAD') ? ['GET'] : [])]),
  );
};
await (await buildApp(server.context, remember)).close();

it('Every path answers 405 with Allow for the methods that it lacks', async () => {
  expect(paths.size).toBeGreaterThan(100);
  for (const [path, methods] of paths) {
    const allow = [...methods].sort().join(', ');
    for (const method of METHODS.filter((candidate) => !methods.has(candidate))) {
      const { status, headers, text } = await server.request(method, path);
      expect(`${method} ${path} ${status} ${headers.get('allow')}`).toBe(`${method} ${path} 405 ${allow}`);
      if (method !== 'HEAD') expect(text).not.toBe('');
    }
  }
  expect(server.logs().filter(({ level }) => Number(level) >= ERROR)).toEqual([]);
});

it.each([
  '/docs',
  '/docs/',
  '/metrics',
  '/healthz',
  '/assets/assay.css',
  '/sign-in',
  '/account',
  '/account/none',
  '/',
])('%s answers HEAD as GET, without a body', async (path) => {
  const [get, head] = [await server.request('GET', path), await server.request('HEAD', path)];
  expect([head.status, head.text]).toEqual([get.status, '']);
  expect(get.status).not.toBe(405);
  for (const name of ['content-type', 'location']) expect(head.headers.get(name)).toBe(get.headers.get(name));
  expect((await server.request('PUT', path)).headers.get('allow')).toMatch(/^GET, HEAD(, POST)?$/);
});

it('Pages answer an unsupported method with a page', async () => {
  for (const [method, path] of [
    ['PUT', '/sign-in'],
    ['POST', '/'],
    ['DELETE', '/account'],
  ] as const) {
    const { headers, text } = await server.request(method, path);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain(`${method} is not allowed for this path.`);
  }
});

it.each(['/account', '/account/people', '/account/security', '/account/sessions'])(
  '4 MiB of nested JSON arrays sent to %s are a 4xx, and are not read',
  async (path) => {
    const { status, headers } = await server.request('POST', path, { raw: '['.repeat(4 * 1024 * 1024) });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  },
);
