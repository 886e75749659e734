import type { RouteOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { SCOPES, type Scope, sufficientScopes } from '../../src/auth/scopes.ts';
import type { Access } from '../../src/http/access.ts';
import { areaOfPath } from '../../src/http/areas.ts';
import { PROBLEM_TYPES, type ProblemTypeName } from '../../src/http/problem-types.ts';
import { errorMediaType } from '../../src/http/problems.ts';
import {
  type RequestOptions,
  startTestServer,
  type TestResponse,
  type TestServer,
} from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

/**
 * The errors that all operations share (docs/decided.md, section 4), generated from the routes, so new
 * operations are covered. Errors of one operation are tested in `test/contract`.
 */
interface Operation {
  name: string;
  method: string;
  /** With unknown ids: all of this is decided before objects are looked up. */
  path: string;
  access: Exclude<Access, string>;
  takesBody: boolean;
  /** Whether the body may also be an array. */
  takesList: boolean;
  /** Statuses without a body. */
  emptyErrorStatuses: readonly number[];
}

/** Bytes; less than the limit of any operation. */
const BODY_LIMIT = 4_096;
const TOO_LARGE = JSON.stringify({ more: 'x'.repeat(BODY_LIMIT) });
const PLAIN = { 'content-type': 'text/plain' };

let server: TestServer;
let limited: TestServer;
let staff: TestUser;
let admin: TestUser;
let otherVulnerability: string;
let scopeless: Map<Scope, string>;
const methods = new Map<string, Set<string>>();
const operations: Operation[] = [];

beforeAll(async () => {
  [server, limited] = await Promise.all([
    startTestServer({ bodyLimit: BODY_LIMIT }),
    startTestServer({ bodyLimit: BODY_LIMIT, rateLimit: 1 }),
  ]);
  const app = await buildApp(server.context, collect);
  await app.close();
  const fixtures = createFixtures(server);
  const { uid: organization } = await fixtures.organization();
  staff = await fixtures.user();
  admin = await fixtures.user({ organization, admin: true });
  otherVulnerability = (await fixtures.token(staff.id, { allowedAddresses: ['192.0.2.0/24'] })).token;
  scopeless = new Map();
  for (const scope of Object.keys(SCOPES) as Scope[]) {
    // Admins of an organization may use scopes that staff may not.
    const token = await fixtures
      .token(staff.id, { scopes: [scope] })
      .catch(() => fixtures.token(admin.id, { scopes: [scope] }));
    scopeless.set(scope, token.token);
  }
});
afterAll(() => Promise.all([server.close(), limited.close()]));

function collect({ method, url, config, schema }: RouteOptions): void {
  // Hidden routes reject other methods or are alternative spellings of a path.
  if (areaOfPath(url).name === 'server' || schema?.hide === true) return;
  const path = url
    .split('::')
    .map((part) => part.replace(/:\w+/g, '987654321'))
    .join(':');
  const pathMethods = methods.get(path) ?? new Set();
  methods.set(path, pathMethods);
  for (const name of [method].flat()) pathMethods.add(name);
  if (typeof config?.access !== 'object' || method === 'HEAD') return;
  operations.push({
    name: config.operation,
    method: String(method),
    path,
    access: config.access,
    // Uploads validate their bodies differently and have tests of their own.
    takesBody: schema?.body !== undefined && config.multipart !== true,
    takesList: (schema?.body as { anyOf?: object[] } | undefined)?.anyOf !== undefined,
    emptyErrorStatuses: config.emptyErrorStatuses ?? [],
  });
}

const send = ({ method, path }: Operation, options: RequestOptions, target = server) =>
  target.request(method, path, options);

/** A token that may call the operation. */
const tokenFor = ({ access }: Operation) => scopeless.get(access.scopes[0] as Scope) as string;
/** A token that may not. */
const tokenWithoutScope = ({ access, method }: Operation) =>
  [...scopeless].find(([scope]) => !sufficientScopes(access.scopes, method).includes(scope))?.[1] as string;

/** Runs a check for each operation and reports all that fail. */
async function forEach(selected: readonly Operation[], check: (operation: Operation) => Promise<void>) {
  expect(selected.length).toBeGreaterThan(0);
  const failures: string[] = [];
  for (const operation of selected) {
    await check(operation).catch((error: unknown) => failures.push(`${operation.name}: ${String(error)}`));
  }
  expect(failures).toEqual([]);
}

const all = () => operations;
const withBody = () => operations.filter(({ takesBody }) => takesBody);
const ofAllSchemes = () => operations.filter(({ access }) => access.schemes === 'all');
const ofBearerAlone = () => operations.filter(({ access }) => access.schemes === 'bearer');

/** The header that caused the error, in areas that name it. */
const SOURCES: Partial<Record<ProblemTypeName, string>> = {
  unauthorized: 'Authorization',
  forbidden: 'Authorization',
  'rate-limited': '',
};

/** Checks every member of an error against the shape of its area. */
function expectError(
  operation: Operation,
  response: TestResponse,
  kind: ProblemTypeName,
  target = server,
): void {
  const { status } = PROBLEM_TYPES[kind];
  expect([response.status, response.text]).toEqual([status, expect.any(String)]);
  if (operation.emptyErrorStatuses.includes(status)) {
    expect(response.text).toBe('');
    return;
  }
  const area = areaOfPath(operation.path);
  const shape = area.errorBodyFormatOf(status);
  const id = response.headers.get('x-request-id');
  const detail = expect.stringMatching(/^\S.*\.$/);
  const { title } = PROBLEM_TYPES[kind];
  const source = SOURCES[kind] ?? expect.any(String);
  const type = `${target.context.addresses.errorTypeBase}/${area.name}/${kind}`;
  expect(response.body).toEqual(
    {
      simple: { id, error: detail },
      problem: { type, title, status, detail, instance: id },
      loggedProblem: { type, title, status, detail, instance: id, logId: id },
      sourcedProblem: { detail, id, source, status, title },
    }[shape],
  );
  expect(response.headers.get('content-type')).toBe(`${errorMediaType(shape)}; charset=utf-8`);
}

const challengeOf = (response: TestResponse) => response.headers.get('www-authenticate');

const ASSET_WRITE = 'asset_gw asset_client_ow asset_boss_ow asset_client_lw asset_boss_lw';
const ASSET_DELETE = 'asset_gw asset_client_ow asset_boss_ow';
const TAG_WRITE = `tag_gw tag_ow tag_lw ${ASSET_WRITE}`;
const TAG_ANY = `${TAG_WRITE} tag_gr tag_or tag_lr asset_gr asset_or asset_lr`;

/** Scopes of the specification (operations 8 to 11) and of the companions; `api` for all others. */
const SCOPES_OF: Record<string, (method: string) => string> = {
  v1: () => 'api',
  // Operations 8 and 9 accept read scopes too.
  tagging: (method) => (method === 'PUT' || method === 'DELETE' ? TAG_WRITE : TAG_ANY),
  assessment: () => 'api',
  asset: (method) => {
    if (method === 'DELETE') return ASSET_DELETE;
    return method === 'GET' ? `${ASSET_WRITE} asset_gr asset_or asset_lr` : ASSET_WRITE;
  },
  streaming: () => 'api',
};

describe('Every operation', () => {
  it('is in the specification or a companion', () => {
    expect(operations.length).toBeGreaterThanOrEqual(14);
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
  });

  it('accepts the scopes and schemes of its area', () =>
    forEach(all(), async ({ method, path, access }) => {
      const area = areaOfPath(path).name;
      expect([...access.scopes].sort()).toEqual(SCOPES_OF[area]?.(method).split(' ').sort());
      expect(access.schemes).toBe(area === 'v1' ? 'all' : 'bearer');
    }));

  it.each<[string, RequestOptions]>([
    ['no credential', {}],
    ['an unknown token', { token: 'unknown' }],
    ['an unknown personal access token', { token: 'assay_pat_unknown' }],
    ['an unknown key', { headers: { 'x-auth': 'unknown' } }],
    ['a wrong password', { headers: { authorization: `Basic ${btoa('someone@example.com:unknown')}` } }],
  ])('returns 401 for %s', (_name, credential) =>
    forEach(all(), async (operation) => {
      const response = await send(operation, { ...credential, ...(operation.takesBody ? { body: {} } : {}) });
      expectError(operation, response, 'unauthorized');
      expect(challengeOf(response)).toMatch(/^Bearer realm="assay"/);
    }),
  );

  it('returns 401 for a valid token in another scheme if it accepts only bearer tokens', () =>
    forEach(ofBearerAlone(), async (operation) => {
      const basic = `Basic ${btoa(`${staff.email}:${staff.token}`)}`;
      for (const headers of [{ 'x-auth': staff.token }, { authorization: basic }] as Record<
        string,
        string
      >[]) {
        expectError(operation, await send(operation, { headers }), 'unauthorized');
      }
    }));

  it('returns 400 for several schemes if it accepts every scheme', () =>
    forEach(ofAllSchemes(), async (operation) => {
      const twoCredentials = { token: staff.token, headers: { 'x-auth': staff.token } };
      expectError(operation, await send(operation, twoCredentials), 'invalid-request');
    }));

  it('returns 403 for each other scope and names the accepted ones', () =>
    forEach(all(), async (operation) => {
      const { scopes } = operation.access;
      for (const [scope, token] of scopeless) {
        if (sufficientScopes(scopes, operation.method).includes(scope)) continue;
        const response = await send(operation, { token });
        expectError(operation, response, 'forbidden');
        expect(challengeOf(response)).toBe(
          `Bearer realm="assay", error="insufficient_scope", scope="${scopes.join(' ')}"`,
        );
      }
    }));

  it('accepts each of its scopes', () =>
    forEach(all(), async (operation) => {
      for (const scope of sufficientScopes(operation.access.scopes, operation.method)) {
        const token = scopeless.get(scope) as string;
        const response = await send(operation, { token, ...(operation.takesBody ? { raw: '{' } : {}) });
        // Unfiltered lists return 200, and forms without a file are validated.
        const isForm = operation.method === 'POST' && !operation.path.includes('987654321');
        const expected = operation.method === 'GET' && response.status === 200 ? 200 : isForm ? 422 : 404;
        expect([scope, response.status]).toEqual([scope, operation.takesBody ? 400 : expected]);
      }
    }));

  it('returns 403 for an address outside the allow list', () =>
    forEach(all(), async (operation) => {
      const response = await send(operation, { token: otherVulnerability });
      expectError(operation, response, 'forbidden');
      expect(challengeOf(response)).toBeNull();
    }));

  it('returns 429 with Retry-After for too many requests', () =>
    forEach(all(), async (operation) => {
      const { token } = await createFixtures(limited).user();
      expect((await send(operation, { token }, limited)).status).not.toBe(429);
      const response = await send(operation, { token }, limited);
      expectError(operation, response, 'rate-limited', limited);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    }));

  it('returns 405 with Allow for every other method of its path', () =>
    forEach(all(), async (operation) => {
      const pathMethods = methods.get(operation.path) as Set<string>;
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (pathMethods.has(method)) continue;
        const response = await send({ ...operation, method }, { token: staff.token });
        expectError({ ...operation, emptyErrorStatuses: [] }, response, 'method-not-allowed');
        expect(response.headers.get('allow')).toBe([...pathMethods].sort().join(', '));
      }
    }));
});

describe('Every operation with a body', () => {
  it.each([
    ['no body', ''],
    ['broken JSON', '{"name": '],
    ['an array', '[]'],
    ['a string', '"name"'],
    ['null', 'null'],
    ['a body that is nested too deeply', `{"more":${'['.repeat(32)}${']'.repeat(32)}}`],
  ])('returns 400 for %s', (_what, raw) =>
    forEach(withBody(), async (operation) => {
      const response = await send(operation, { token: tokenFor(operation), raw });
      if (operation.takesList && raw === '[]') expect(response.status).toBe(422);
      else expectError(operation, response, 'invalid-request');
    }),
  );

  it('returns 413 for a body over the limit', () =>
    forEach(withBody(), async (operation) => {
      const response = await send(operation, { token: tokenFor(operation), raw: TOO_LARGE });
      expectError(operation, response, 'body-too-large');
    }));

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml'])(
    'returns 415 for the type %s',
    (type) =>
      forEach(withBody(), async (operation) => {
        const options = { token: tokenFor(operation), headers: { 'content-type': type }, raw: '{}' };
        expectError(operation, await send(operation, options), 'unsupported-media-type');
      }),
  );
});

describe('Order of validation', () => {
  /** Wrong type, size and syntax; each request below also has every later error. */
  const wrong = { raw: `{${TOO_LARGE}`, headers: PLAIN };

  it('several credentials first', () =>
    forEach(ofAllSchemes(), async (operation) => {
      const headers = { ...PLAIN, 'x-auth': 'unknown' };
      const options = operation.takesBody ? { ...wrong, headers } : { headers: { 'x-auth': 'unknown' } };
      const response = await send(operation, { ...options, token: 'unknown' });
      expectError(operation, response, 'invalid-request');
    }));

  it('the credential next', () =>
    forEach(all(), async (operation) => {
      const options = operation.takesBody ? wrong : {};
      expectError(operation, await send(operation, { ...options, token: 'unknown' }), 'unauthorized');
    }));

  it('allow list, rate limit and scope next', () =>
    forEach(all(), async (operation) => {
      const fixtures = createFixtures(limited);
      const { id } = await fixtures.user();
      const scopes = ['api', 'tag_gw'].filter((scope) => !operation.access.scopes.includes(scope as Scope));
      const { token: outside } = await fixtures.token(id, { scopes, allowedAddresses: ['192.0.2.0/24'] });
      const { token } = await fixtures.token(id, { scopes });
      const options = operation.takesBody ? wrong : {};

      const lacking = await send(operation, { ...options, token }, limited);
      expectError(operation, lacking, 'forbidden', limited);
      expect(challengeOf(lacking)).toMatch(/insufficient_scope/);
      expectError(operation, await send(operation, { ...options, token }, limited), 'rate-limited', limited);
      const rejected = await send(operation, { ...options, token: outside }, limited);
      expectError(operation, rejected, 'forbidden', limited);
      expect(challengeOf(rejected)).toBeNull();
    }));

  it('type, size and syntax of the body last', () =>
    forEach(withBody(), async (operation) => {
      const token = tokenFor(operation);
      expectError(
        operation,
        await send(operation, { ...wrong, token: tokenWithoutScope(operation) }),
        'forbidden',
      );
      expectError(operation, await send(operation, { ...wrong, token }), 'unsupported-media-type');
      expectError(operation, await send(operation, { raw: wrong.raw, token }), 'body-too-large');
      expectError(operation, await send(operation, { raw: '{', token }), 'invalid-request');
    }));
});
