import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { newPersonalToken } from '../../src/auth/secrets.ts';
import { loadConfig } from '../../src/config/config.ts';
import { revokeToken } from '../../src/domain/tokens/tokens.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const LIMIT = 5;
const PATH = '/v1/assessments/none/testing_hours';

let now = Date.UTC(2026, 10, 21);
const server = await startSecondServer(await useSharedServer(() => now), {
  rateLimit: LIMIT,
  trustedProxies: ['127.0.0.1'],
});
// Every test has its own minute.
beforeEach(() => {
  now += 60_000;
});
afterAll(() => server.close());

const send = (from: string, authorization?: string, path = PATH) =>
  server.request('GET', path, {
    headers: { 'x-forwarded-for': from, ...(authorization === undefined ? {} : { authorization }) },
  });

/** Sends invalid tokens from an address until it is limited. */
async function spend(from: string): Promise<void> {
  for (let sent = 0; sent < LIMIT; sent += 1)
    expect((await send(from, `Bearer ${newPersonalToken()}`)).status).toBe(401);
}

/** @returns the number of token queries meanwhile, from the metrics */
async function countQueries(work: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    const { text } = await server.request('GET', '/metrics', {
      headers: { 'x-forwarded-for': '127.0.0.1' },
    });
    return Number(/^assay_tokens_checked_total (\d+)$/m.exec(text)?.[1]);
  };
  const before = await count();
  await work();
  return (await count()) - before;
}

describe('Requests without a valid credential', () => {
  it.each([
    ['no token', () => undefined],
    ['a malformed token', () => 'Bearer nonsense'],
    ['an unknown personal access token', () => `Bearer ${newPersonalToken()}`],
    ['a JWT of an unknown account', () => 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'],
    [
      'a basic credential',
      () => `Basic ${Buffer.from(`a@b.example:${newPersonalToken()}`).toString('base64')}`,
    ],
  ])('with %s are limited per address, with 429 in place of 401', async (_what, authorization) => {
    const from = `192.0.2.${10 + ((now / 60_000) % 200)}`;
    for (let left = LIMIT - 1; left >= 0; left -= 1) {
      const response = await send(from, authorization());
      expect(response.status).toBe(401);
      expect(response.headers.get('ratelimit')).toBe(`"default";r=${left};t=60`);
    }
    const rejected = await send(from, authorization());
    expect(rejected.status).toBe(429);
    expect(rejected.body.type).toMatch(/\/v1\/rate-limited$/);
    expect(rejected.headers.get('retry-after')).toBe('60');
    expect(rejected.headers.get('www-authenticate')).toBeNull();
    expect((await send('198.51.100.1', authorization())).status).toBe(401);
    now += 60_000;
    expect((await send(from, authorization())).status).toBe(401);
  });

  it('share the limit of routes without credentials', async () => {
    for (let sent = 0; sent < LIMIT; sent += 1)
      expect((await send('192.0.2.1', undefined, '/sign-in')).status).toBe(200);
    expect((await send('192.0.2.1')).status).toBe(429);
  });

  it('do not limit valid tokens from the same address, cached or not', async () => {
    const fixtures = createFixtures(server);
    const knownUser = await fixtures.user();
    expect((await send('192.0.2.2', `Bearer ${knownUser.token}`)).status).toBe(404);
    await spend('192.0.2.2');
    expect((await send('192.0.2.2')).status).toBe(429);
    const unknown = await fixtures.user();
    const jwt = await fixtures.token(unknown.id, { kind: 'jwt', expiresAt: now + 3_600_000 });
    for (const token of [knownUser.token, unknown.token, jwt.token]) {
      const response = await send('192.0.2.2', `Bearer ${token}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('ratelimit')).toMatch(/r=[1-4];/);
    }
  });

  it('do not hide a 403 for a valid token that lacks a scope', async () => {
    await spend('192.0.2.3');
    const user = await createFixtures(server).user();
    const { token } = await createFixtures(server).token(user.id, { scopes: ['tag_gr'] });
    expect((await send('192.0.2.3', `Bearer ${token}`)).status).toBe(403);
  });

  it('cause few database queries', async () => {
    await spend('192.0.2.4');
    const queries = await countQueries(async () => {
      const responses = await Promise.all(
        Array.from({ length: 200 }, () => send('192.0.2.4', `Bearer ${newPersonalToken()}`)),
      );
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([429]));
    });
    expect(queries).toBeGreaterThan(0);
    expect(queries).toBeLessThan(100);
  });

  it('cause few database queries with a revoked token', async () => {
    const { db } = server.context;
    const user = await createFixtures(server).user();
    await db.write((tx) => revokeToken(tx, cliChangeContext(now), user.token));
    await spend('192.0.2.5');
    const queries = await countQueries(() =>
      Promise.all(Array.from({ length: 200 }, () => send('192.0.2.5', `Bearer ${user.token}`))),
    );
    expect(queries).toBeGreaterThan(0);
    expect(queries).toBeLessThan(100);
  });
});

it('The rate limit is 3,000 per minute by default', () => {
  expect(loadConfig({}, {}).rateLimit).toBe(3_000);
});

describe('A token without its scheme', () => {
  it.each(['/v1/assessments/none/testing_hours', '/api/streaming/v1/none/assets/none/ports'])(
    'is explained at %s without repeating it',
    async (path) => {
      const { token, id } = await createFixtures(server).user();
      const jwt = await createFixtures(server).token(id, { kind: 'jwt', expiresAt: now + 3_600_000 });
      for (const credential of [token, jwt.token]) {
        const response = await send('192.0.2.6', credential, path);
        expect(response.status).toBe(401);
        expect(response.body.detail).toContain('Authorization: Bearer <token>');
        expect(response.text).not.toContain(credential);
        expect(response.headers.get('www-authenticate')).toBe('Bearer realm="assay"');
      }
    },
  );
});
