import type { RouteOptions } from 'fastify';
import { beforeAll, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { isReadOnlyScope, type Scope, SCOPES } from '../../src/auth/scopes.ts';
import { areaOfPath } from '../../src/http/areas.ts';
import { insertImport } from '../harness/imports.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

/** What a token can do that has the scope `api_read` alone, from the routes, so new operations are covered. */

interface Route {
  method: string;
  /** With unknown ids: scopes are decided before objects are looked up. */
  path: string;
  scopes: readonly Scope[];
}

const routes: Route[] = [];
// The test compares all audit events, so the server is not shared.
const server = await useOwnServer();
const fixtures = createFixtures(server);

beforeAll(async () => {
  const app = await buildApp(server.context, collect);
  await app.close();
});

function collect({ method, url, config, schema }: RouteOptions): void {
  if (areaOfPath(url).name === 'server' || schema?.hide === true || typeof config?.access !== 'object')
    return;
  const path = url
    .split('::')
    .map((part) => part.replace(/:\w+/g, '987654321'))
    .join(':');
  for (const name of [method].flat()) routes.push({ method: name, path, scopes: config.access.scopes });
}

const keyOf = ({ method, path }: Route) => `${method} ${path}`;

it('The scope api_read is enough for every GET and HEAD that api is enough for, and for nothing else', async () => {
  const { uid } = await fixtures.organization();
  const admin = await fixtures.user({ organization: uid, admin: true });
  const { token } = await fixtures.token(admin.id, { scopes: ['api_read'] });
  const eventsBefore = (await fixtures.auditEvents()).length;
  const allowed: string[] = [];
  for (const route of routes) {
    const response = await server.request(route.method, route.path, { token });
    const challenge = response.headers.get('www-authenticate');
    if (challenge === null) {
      expect([keyOf(route), response.status]).toEqual([
        keyOf(route),
        expect.toSatisfy((status) => status === 200 || status === 404),
      ]);
      allowed.push(keyOf(route));
    } else {
      expect([keyOf(route), response.status, challenge]).toEqual([
        keyOf(route),
        403,
        `Bearer realm="assay", error="insufficient_scope", scope="${route.scopes.join(' ')}"`,
      ]);
    }
  }
  const reading = routes.filter(
    ({ method, scopes }) => ['GET', 'HEAD'].includes(method) && scopes.includes('api'),
  );
  expect(allowed).toEqual(reading.map(keyOf));
  const areas = new Set(allowed.map((key) => areaOfPath(key.split(' ')[1] ?? '').name));
  expect([...areas].sort()).toEqual(['assessment', 'streaming', 'v1']);
  for (const method of ['GET', 'HEAD'])
    expect(allowed.filter((key) => key.startsWith(`${method} `)).length).toBeGreaterThan(20);
  expect(await fixtures.auditEvents()).toHaveLength(eventsBefore);
});

it('The scope api_read is enough for exports and event streams', async () => {
  const { uid, id: organizationId } = await fixtures.organization();
  const admin = await fixtures.user({ organization: uid, admin: true });
  const assessment = await fixtures.assessment(uid);
  await fixtures.vulnerability(assessment.uid);
  const { token } = await fixtures.token(admin.id, { scopes: ['api_read'] });
  for (const accept of ['text/csv', 'application/x-ndjson']) {
    const response = await server.request('GET', '/v1/vulnerabilities', { token, headers: { accept } });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining(accept),
    ]);
    expect(response.text).toContain(assessment.uid);
  }
  const job = await insertImport(server, { organizationId, state: 'succeeded', finishedAt: 2 });
  const { status, text } = await server.request('GET', `/v1/imports/${job}/events`, { token });
  expect([status, text]).toEqual([200, expect.stringContaining('event: end')]);
});

it('Every account may have the scope api_read, and no credential has it that does not name it', async () => {
  const { uid } = await fixtures.organization();
  for (const account of [
    {},
    { assignedTo: [uid] },
    { organization: uid, admin: true },
    { organization: uid },
  ]) {
    const { id, token } = await fixtures.user(account);
    const whoAmI = async (credential: string) =>
      (await server.request('GET', '/v1/users/whoami', { token: credential })).body.scopes;
    expect(await whoAmI(token)).toContain('api');
    expect(await whoAmI(token)).not.toContain('api_read');
    for (const kind of ['personal', 'jwt'] as const) {
      const expiresAt = Date.now() + 60_000;
      const reader = await fixtures.token(id, { kind, expiresAt, scopes: ['api_read'] });
      expect(await whoAmI(reader.token)).toEqual(['api_read']);
    }
  }
});

it('A scope only reads if its name says so', () => {
  expect((Object.keys(SCOPES) as Scope[]).filter(isReadOnlyScope)).toEqual([
    'api_read',
    'tag_gr',
    'tag_or',
    'tag_lr',
    'asset_gr',
    'asset_or',
    'asset_lr',
  ]);
});
