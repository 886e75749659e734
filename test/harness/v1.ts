import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from './problems.ts';
import { startTestServer, type TestResponse, type TestServer } from './server.ts';
import { type TestUser, worldOf } from './world.ts';

/** One call of a V1 operation, on something that need not exist: access is decided before. */
interface V1Call {
  method: string;
  path: string;
  /** Absent for an operation that reads no body. */
  body?: Record<string, unknown>;
  /** Statuses that the operation answers without a body. */
  bodiless?: readonly number[];
}

/** Larger than any body of the tests but the one that is too large. */
export const BODY_LIMIT = 100_000;

/**
 * Holds an operation to the errors that every V1 operation has, in shape B: credentials, scope, allow list, rate limit,
 * and for one that reads a body, its form.
 * @param server a function, as the server starts after the tests are declared; its `bodyLimit` is `BODY_LIMIT`
 */
export function describeCommonErrors(
  server: () => TestServer,
  { method, path, body, bodiless = [] }: V1Call,
): void {
  describe('answers what every V1 operation answers', () => {
    let user: TestUser;
    beforeAll(async () => {
      user = await worldOf(server()).user();
    });

    const expectError = (response: TestResponse, status: number, kind: string): void => {
      if (bodiless.includes(status)) expect([response.status, response.text]).toEqual([status, '']);
      else expectProblem(server(), response, { area: 'v1', status, kind });
    };

    it('400 to several schemes at once', async () => {
      const response = await server().request(method, path, {
        token: user.token,
        headers: { 'x-auth': user.token },
        body,
      });
      expectError(response, 400, 'invalid-request');
    });

    it.each([
      ['none', {}],
      ['an unknown token', { authorization: 'Bearer unknown' }],
      ['an unknown key', { 'x-auth': 'unknown' }],
      ['a wrong password', { authorization: `Basic ${btoa('someone@example.com:unknown')}` }],
    ])('401 to %s', async (_credential, headers) => {
      const response = await server().request(method, path, {
        headers: headers as Record<string, string>,
        body,
      });
      expectError(response, 401, 'unauthorized');
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="assay"/);
    });

    it('403 to a token without the scope', async () => {
      const { token } = await worldOf(server()).token(user.id, { scopes: ['tag_gw', 'asset_gw'] });
      const response = await server().request(method, path, { token, body });
      expectError(response, 403, 'forbidden');
      expect(response.headers.get('www-authenticate')).toMatch(/error="insufficient_scope", scope="api"$/);
    });

    it('403 to an address outside the allow list', async () => {
      const { token } = await worldOf(server()).token(user.id, { allowedAddresses: ['192.0.2.0/24'] });
      expectError(await server().request(method, path, { token, body }), 403, 'forbidden');
    });

    it('429 to too many requests', async () => {
      const limited = await startTestServer({ rateLimit: 1 });
      try {
        const { token } = await worldOf(limited).user();
        await limited.request(method, path, { token, body });
        const response = await limited.request(method, path, { token, body });
        expectProblem(limited, response, { area: 'v1', status: 429, kind: 'rate-limited' });
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      } finally {
        await limited.close();
      }
    });

    if (body === undefined) return;

    it.each([
      ['no body', ''],
      ['broken JSON', '{"name": '],
      ['an array', '[]'],
      ['a string', '"name"'],
      ['null', 'null'],
    ])('400 to %s', async (_what, raw) => {
      expectError(await server().request(method, path, { token: user.token, raw }), 400, 'invalid-request');
    });

    it('413 to a body over the limit', async () => {
      const raw = JSON.stringify({ ...body, more: 'x'.repeat(BODY_LIMIT) });
      expectError(await server().request(method, path, { token: user.token, raw }), 413, 'body-too-large');
    });

    it('415 to a body that is not called JSON', async () => {
      const response = await server().request(method, path, {
        token: user.token,
        headers: { 'content-type': 'text/plain' },
        raw: JSON.stringify(body),
      });
      expectError(response, 415, 'unsupported-media-type');
    });
  });
}

/** Path ids that no row can have, of every kind that could trip a database. */
export const IMPOSSIBLE_IDS = [
  '0',
  '-1',
  '01',
  '1.0',
  '1e3',
  '+1',
  'abc',
  '%20',
  '%00',
  '1%00',
  '%ED%95%9C',
  '%F0%9F%92%A9',
  '9007199254740993',
  '9223372036854775808',
  "1'%20or%20'1'='1",
  'x'.repeat(4_000),
];

/** Names that break the rule of 1 to 255 characters after trimming, or that a database cannot keep. */
export const BAD_NAMES = ['', '   ', '\t\n', 'x'.repeat(256), 'x'.repeat(3_000), 'nul\0', '\ud800'];
