import { describe, expect, it } from 'vitest';
import { AREA_NAMES } from '../../src/config/config.ts';
import { AREAS } from '../../src/http/areas.ts';
import { type ProblemType, PROBLEM_TYPES } from '../../src/http/problem-types.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useSharedServer();
const { token } = await createFixtures(server).user();

const CLOSED = "default-src 'none'; frame-ancestors 'none'";

describe('Security headers', () => {
  it.each([
    ['a success', 'GET', '/healthz', 200],
    ['an error', 'GET', '/v1/assessments/none/testing_hours', 404],
    ['an invalid request', 'POST', '/v1/assessment_tags', 400],
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
    const secure = await startSecondServer(server, { clientBaseUrl: 'https://assay.example' });
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
    const { title, meaning, onlyArea }: ProblemType = PROBLEM_TYPES[kind as keyof typeof PROBLEM_TYPES];
    const renamed = area !== 'server' && Object.keys(AREAS[area].problemTypes ?? {}).includes(kind);
    const isSent = (onlyArea ?? area) === area && !renamed;
    expect(status).toBe(isSent ? 200 : 404);
    const list = (await server.request('GET', '/problems')).text;
    expect(list.includes(`/problems/${area}/${kind}\n`)).toBe(isSent);
    if (!isSent) return;
    expect(text).toContain(title);
    expect(text).toContain(meaning);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('content-security-policy')).toBe(CLOSED);
  });

  const accept = (type: string) => ({ headers: { accept: type } });
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  it('are pages with links for browsers, and text or JSON for programs', async () => {
    const list = await server.request('GET', '/problems', accept(BROWSER));
    expect(list.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(list.headers.get('vary')).toContain('accept');
    expect(list.headers.get('set-cookie')).toBeNull();
    expect(list.headers.get('cache-control')).toBe('public, max-age=300');
    const links = [...list.text.matchAll(/href="(\/problems\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(60);
    for (const path of [links[0] ?? '', '/problems/v1/conflict']) {
      const page = await server.request('GET', path, accept(BROWSER));
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.text).toContain('href="/problems"');
    }
    for (const type of ['*/*', 'text/plain', 'image/png'])
      expect((await server.request('GET', '/problems/v1/conflict', accept(type))).text).toMatch(
        /^Conflict with the current state \(409\)\n\nThe name is already taken/,
      );
    const { body } = await server.request('GET', '/problems', accept('application/json'));
    const conflict = body.find(({ type }: { type: string }) => type.endsWith('/problems/v1/conflict'));
    expect(conflict).toEqual({
      type: `${server.origin}/problems/v1/conflict`,
      status: 409,
      title: 'Conflict with the current state',
      meaning: PROBLEM_TYPES.conflict.meaning,
    });
    const problemPage = await server.request('GET', '/problems/v1/conflict', accept('application/json'));
    expect(problemPage.body).toEqual(conflict);
  });

  it('that do not exist are a page for browsers, and a problem for programs', async () => {
    const page = await server.request('GET', '/problems/v1/<i>', accept(BROWSER));
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.text).toContain('There is no problem type v1/&lt;i>.');
    const problem = await server.request('GET', '/problems/v1/none', accept('application/json'));
    expect(problem.status).toBe(404);
    expect(problem.body.detail).toBe('There is no problem type v1/none.');
  });

  it('are listed under the only area that uses them', async () => {
    const { text } = await server.request('GET', '/problems');
    expect(text.match(/\/problems\/[a-z0-9]+\/group-not-found\n/g)).toHaveLength(1);
    expect(text).toContain('/problems/assessment/group-not-found\n');
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
