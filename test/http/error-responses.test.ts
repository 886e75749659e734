import { request as sendHttp } from 'node:http';
import { connect } from 'node:net';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { AREA_NAMES } from '../../src/config/config.ts';
import { AREAS, SERVER_AREA } from '../../src/http/areas.ts';
import {
  type RequestOptions,
  startSecondServer,
  startTestServer,
  type TestResponse,
  type TestServer,
  useSharedServer,
} from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

/** One operation per area, with a valid body if it has one. */
const PROBES = {
  v1: ['POST', '/v1/assessment_tags', { name: 'edge', assessment_id: 'none' }],
  tagging: ['POST', '/api/tagging/v1.0/organizations/acme/tags', { tags: [{ name: 'edge' }] }],
  assessment: ['POST', '/api/assessment/v1/assessment-groups/1/members/batchRemove', { userUids: ['u1'] }],
  asset: ['PATCH', '/api/asset/v2/listings/none/assets', { add: [] }],
  streaming: ['GET', '/api/streaming/v1/acme/assets/5f0c1e2d3b4a59687786a5b4/ports', undefined],
} as const;
const WITH_BODY = AREA_NAMES.filter((area) => PROBES[area][2] !== undefined);
const AREAS_AND_SERVER = [
  ...AREA_NAMES.map((area) => [area, AREAS[area].prefix] as const),
  ['server', ''] as const,
] as const;
type AreaOrServer = (typeof AREAS_AND_SERVER)[number][0];

const server = await startSecondServer(await useSharedServer(), { bodyLimit: 4_096 });
const fixtures = createFixtures(server);
await fixtures.organization('acmefailures');
const staff = await fixtures.user();
afterAll(() => server.close());

/** Checks a response against the shape of its area (docs/decided.md, section 4), and that it reveals no internals. */
function expectFailure(
  area: AreaOrServer,
  { status, headers, body, text }: TestResponse,
  expected: number,
  kind: string,
  target = server,
): void {
  expect([status, text]).toEqual([expected, expect.stringMatching(/./)]);
  const id = headers.get('x-request-id');
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const sentence = expect.stringMatching(/^[A-Z].*\.$/);
  const title = expect.stringMatching(/./);
  const shape = (area === 'server' ? SERVER_AREA : AREAS[area]).errorBodyFormatOf(expected);
  const type = `${target.context.addresses.errorTypeBase}/${area}/${kind}`;
  const bodies = {
    simple: { id, error: sentence },
    problem: { type, title, status, detail: sentence, instance: id },
    loggedProblem: { status, title, type, detail: sentence, instance: id, logId: id },
    sourcedProblem: { detail: sentence, id, source: expect.any(String), status, title },
  };
  expect(body).toEqual(bodies[shape]);
  expect(headers.get('content-type')).toBe(
    `application/${shape === 'simple' || shape === 'sourcedProblem' ? 'json' : 'problem+json'}; charset=utf-8`,
  );
  expect(headers.get('cache-control')).toBe('no-store');
  expect(text).not.toMatch(
    /\bselect\b|\binsert\b|sqlite|postgres|kysely|node_modules|\.ts\b|\.js\b|users|\n\s+at /i,
  );
}

function probe(area: keyof typeof PROBES, options: RequestOptions = {}, target = server) {
  const [method, path, body] = PROBES[area];
  return target.request(method, path, {
    token: staff.token,
    ...(body === undefined ? {} : { body }),
    ...options,
  });
}

/** Sends requests that `fetch` rejects. */
function sendRaw(method: string, path: string): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const request = sendHttp(`${server.origin}${path}`, { method }, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      const headers = new Headers(
        Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
      );
      const isJson = text !== '' && /json/.test(headers.get('content-type') ?? '');
      resolve({
        status: response.statusCode ?? 0,
        headers,
        text,
        body: isJson ? JSON.parse(text) : undefined,
      });
    });
    request.on('error', reject);
    request.end();
  });
}

describe.each(AREAS_AND_SERVER)('Unknown paths of %s', (area, prefix) => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    'return 404 for %s',
    async (method) => {
      for (const path of [`${prefix}/no/such/thing`, `${prefix}/..%2f..%2fetc`, `${prefix}/x?y=%zz`]) {
        expectFailure(area, await sendRaw(method, path), 404, 'not-found');
      }
    },
  );

  it('return 404 without a body for HEAD', async () => {
    const { status, text, headers } = await sendRaw('HEAD', `${prefix}/no/such/thing`);
    expect([status, text]).toEqual([404, '']);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('return 400 for invalid percent-encoding', async () => {
    for (const path of [`${prefix}/%zz`, `${prefix}/x/%`, `${prefix}/x/%e0%a4%a`]) {
      expectFailure(area, await sendRaw('GET', path), 400, 'invalid-request');
    }
  });
});

const ALLOWED = {
  v1: ['GET', 'HEAD', 'POST'],
  tagging: ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST'],
  assessment: ['POST'],
  asset: ['GET', 'HEAD', 'PATCH'],
  streaming: ['GET', 'HEAD'],
  server: ['GET', 'HEAD'],
};

describe.each([...AREA_NAMES, 'server'] as const)('Known paths of %s', (area) => {
  const path = area === 'server' ? '/healthz' : PROBES[area][1];
  const otherMethods = [
    'GET',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'SEARCH',
    'LOCK',
  ];

  it.each(otherMethods.filter((method) => !ALLOWED[area].includes(method)))(
    'return 405 for %s with the allowed methods',
    async (method) => {
      const response = await sendRaw(method, path);
      expectFailure(area, response, 405, 'method-not-allowed');
      expect(response.headers.get('allow')).toBe(ALLOWED[area].join(', '));
    },
  );

  it('return the status of GET without a body for HEAD', async () => {
    const { status, text } = await sendRaw('HEAD', path);
    expect([status, text]).toEqual([(await sendRaw('GET', path)).status, '']);
  });
});

describe.each(WITH_BODY)('Request bodies of %s', (area) => {
  it.each(['{', '{"a":1', 'nothing', '{"a":1}{"b":2}', "{'a': 1}", '\u0000'])(
    'return 400 for invalid JSON: %j',
    async (raw) => expectFailure(area, await probe(area, { raw }), 400, 'invalid-request'),
  );

  it.each(['[]', '[{}]', '"text"', '1', 'null', 'true'])(
    'return 400 for JSON other than an object: %s',
    async (raw) => expectFailure(area, await probe(area, { raw }), 400, 'invalid-request'),
  );

  it('return 400 if empty', async () => {
    expectFailure(area, await probe(area, { raw: '' }), 400, 'invalid-request');
    const absent = await server.request(PROBES[area][0], PROBES[area][1], { token: staff.token });
    expectFailure(area, absent, 400, 'invalid-request');
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'nonsense',
    'multipart/form-data',
  ])('return 415 for the type %s', async (type) => {
    const response = await probe(area, { headers: { 'content-type': type } });
    expectFailure(area, response, 415, 'unsupported-media-type');
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
    'are parsed with the type %s',
    async (type) => {
      const response = await probe(area, { raw: '{', headers: { 'content-type': type } });
      expectFailure(area, response, 400, 'invalid-request');
    },
  );

  it('return 413 if too large', async () => {
    const response = await probe(area, { body: { filler: 'x'.repeat(5_000) } });
    expectFailure(area, response, 413, 'body-too-large');
  });

  it('cannot pollute prototypes', async () => {
    const raw = `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}`;
    const response = await probe(area, { raw });
    expect(response.status).toBeLessThan(500);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('Malformed HTTP', () => {
  it.each(['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`])(
    'returns 400 in shape B',
    async (text) => {
      const { port } = new URL(server.origin);
      const response = await new Promise<string>((resolve, reject) => {
        let received = '';
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
        socket.on('data', (chunk) => (received += chunk.toString()));
        socket.on('close', () => resolve(received)).on('error', reject);
      });
      const [head = '', body = ''] = response.split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      const headers = new Headers(
        head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': ') as [string, string]),
      );
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expectFailure(
        'server',
        { status: 400, headers, text: body, body: JSON.parse(body) },
        400,
        'invalid-request',
      );
    },
  );
});

describe('Server failures', () => {
  it('return 500 without details in the shape of each area, and log the reason', async () => {
    const broken = await startTestServer();
    try {
      const { token } = await createFixtures(broken).user();
      await broken.context.db.write((tx) => sql`alter table users rename to elsewhere`.execute(tx));
      for (const area of AREA_NAMES) {
        const response = await probe(area, { token }, broken);
        expectFailure(area, response, 500, 'internal-error', broken);
        const logged = broken
          .logs()
          .find((line) => line['requestId'] === response.headers.get('x-request-id') && line['level'] === 50);
        expect(JSON.stringify(logged)).toMatch(/users/);
      }
    } finally {
      await broken.close();
    }
  });

  it('return 503 with Retry-After in the shape of each area while the database is unavailable', async () => {
    const lonely = await startTestServer();
    try {
      const { user } = createFixtures(lonely);
      const [knownUser, unknownUser] = [await user(), await user()];
      for (const area of AREA_NAMES) await probe(area, { token: knownUser.token }, lonely);
      const bringBack = await takeAway(lonely);
      for (const area of AREA_NAMES) {
        for (const { token } of [knownUser, unknownUser]) {
          const response = await probe(area, { token }, lonely);
          expectFailure(area, response, 503, 'unavailable', lonely);
          expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        }
      }
      expectFailure('server', await lonely.request('GET', '/readyz'), 503, 'unavailable', lonely);
      expect((await lonely.request('GET', '/healthz')).status).toBe(200);
      expect((await lonely.request('GET', '/openapi.json')).status).toBe(200);
      if (bringBack === undefined) return;
      await bringBack();
      expect((await lonely.request('GET', '/readyz')).status).toBe(200);
      expect((await probe('asset', { token: knownUser.token }, lonely)).status).toBe(404);
    } finally {
      await lonely.close();
    }
  });
});

/**
 * Disconnects the database of a server: ends and rejects PostgreSQL's connections, closes SQLite's file.
 * @returns a function that restores it, where possible
 */
async function takeAway({ context }: TestServer): Promise<(() => Promise<void>) | undefined> {
  if (context.config.databaseUrl === undefined) {
    await context.db.close();
    return undefined;
  }
  const name = new URL(context.config.databaseUrl).pathname.slice(1);
  const administer = async (...statements: string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: inject('postgresUrl') });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  await administer(
    `alter database ${name} with allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  );
  return () => administer(`alter database ${name} with allow_connections true`);
}
