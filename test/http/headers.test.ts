import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AREA_NAMES } from '../../src/config/config.ts';
import { AREAS } from '../../src/http/areas.ts';
import { type ProblemType, PROBLEM_TYPES } from '../../src/http/problem-types.ts';
import { startSibling, type TestServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await useSharedServer();
  ({ token } = await createFixtures(server).user());
});
afterAll(() => server.close());

const CLOSED = "default-src 'none'; frame-ancestors 'none'";

describe('Security headers', () => {
  it.each([
    ['a success', 'GET', '/healthz', 200],
    ['an error', 'GET', '/v1/assessments/none/testing_hours', 404],
    ['a forbidden request', 'POST', '/v1/assessment_tags', 400],
    ['an unknown path', 'GET', '/nothing', 404],
    ['an unknown path of an area', 'GET', '/api/streaming/nothing', 404],
    ['a wrong method', 'DELETE', '/api/asset/v2/bulk/assets/criticality:update', 405],
    ['an invalid path', 'GET', '/%zz', 400],
  ])('are set on %s', async (_case, method, path, status) => {
    const response = await server.request(method, path, { token });
    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': CLOSED,
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    for (const absent of ['strict-transport-security', 'server', 'x-powered-by']) {
      expect(response.headers.get(absent)).toBeNull();
    }
  });

  it('include Strict-Transport-Security if the public address is https', async () => {
    const secure = await startSibling(server, { clientBaseUrl: 'https://assay.example' });
    const { headers } = await secure.request('GET', '/healthz');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    await secure.close();
  });

  it('allow caching of public responses', async () => {
    for (const path of ['/.well-known/jwks.json', '/openapi.json', '/problems', '/problems/v1/conflict']) {
      const { headers } = await server.request('GET', path);
      expect([path, headers.get('cache-control')]).toEqual([path, 'public, max-age=300']);
    }
  });
});

describe('Problem types', () => {
  it.each(
    [...AREA_NAMES, 'server' as const].flatMap((area) =>
      Object.keys(PROBLEM_TYPES).map((kind) => [area, kind] as const),
    ),
  )('/problems/%s/%s describes the type, or returns 404 if the area does not use it', async (area, kind) => {
    const { status, headers, text } = await server.request('GET', `/problems/${area}/${kind}`);
    const {
      title,
      meaning,
      onlyArea = area,
    }: ProblemType = PROBLEM_TYPES[kind as keyof typeof PROBLEM_TYPES];
    const renamed = area !== 'server' && Object.keys(AREAS[area].problemTypes ?? {}).includes(kind);
    const sent = onlyArea === area && !renamed;
    expect(status).toBe(sent ? 200 : 404);
    const list = (await server.request('GET', '/problems')).text;
    expect(list.includes(`/problems/${area}/${kind}\n`)).toBe(sent);
    if (!sent) return;
    expect(text).toContain(title);
    expect(text).toContain(meaning);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('content-security-policy')).toBe(CLOSED);
  });

  it('are listed under the only area that uses them', async () => {
    const { text } = await server.request('GET', '/problems');
    for (const kind of ['group-not-found', 'precondition-failed', 'range-not-satisfiable'])
      expect(text.match(new RegExp(`/problems/[a-z0-9]+/${kind}\n`, 'g'))).toHaveLength(1);
    expect(text).toContain('/problems/assessment/group-not-found\n');
    expect(text).toContain('/problems/server/range-not-satisfiable\n');
  });

  it('match the type of an error', async () => {
    const { body } = await server.request('GET', '/v1/assessments/none/testing_hours', { token });
    expect(body.type).toBe(`${server.origin}/problems/v1/not-found`);
    expect((await server.request('GET', new URL(body.type).pathname)).status).toBe(200);
  });

  it.each(['/problems/v1/nothing', '/problems/nowhere/conflict', '/problems/v1/toString', '/problems/v1'])(
    '%s returns 404',
    async (path) => {
      const { status, body } = await server.request('GET', path);
      expect([status, body.type]).toEqual([404, `${server.origin}/problems/server/not-found`]);
    },
  );
});
