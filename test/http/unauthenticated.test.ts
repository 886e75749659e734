import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newPersonalToken } from '../../src/auth/secrets.ts';
import { loadConfig } from '../../src/config/config.ts';
import { revokeToken } from '../../src/domain/tokens/tokens.ts';
import { cliAttribution } from '../../src/auth/callers.ts';
import { startSibling, type TestServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const LIMIT = 5;
const PATH = '/v1/assessments/none/testing_hours';

let now = Date.UTC(2026, 10, 21);
let server: TestServer;
beforeAll(async () => {
  server = await startSibling(await useSharedServer(() => now), {
    rateLimit: LIMIT,
    trustedProxies: ['127.0.0.1'],
  });
});
// Every test has a minute of its own.
beforeEach(() => {
  now += 60_000;
});
afterAll(() => server.close());

const ask = (from: string, authorization?: string, path = PATH) =>
  server.request('GET', path, {
    headers: { 'x-forwarded-for': from, ...(authorization === undefined ? {} : { authorization }) },
  });

/** Sends bad tokens from an address until it is told to stop. */
async function spend(from: string): Promise<void> {
  for (let sent = 0; sent < LIMIT; sent += 1)
    expect((await ask(from, `Bearer ${newPersonalToken()}`)).status).toBe(401);
}

/** @returns how often the database was asked about tokens meanwhile, as the metrics have it */
async function questions(work: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    const { text } = await server.request('GET', '/metrics');
    return Number(/^assay_tokens_checked_total (\d+)$/m.exec(text)?.[1]);
  };
  const before = await count();
  await work();
  return (await count()) - before;
}

describe('Requests without a valid credential', () => {
  it.each([
    ['no token', () => undefined],
    ['a token that is none', () => 'Bearer nonsense'],
    ['an unknown personal access token', () => `Bearer ${newPersonalToken()}`],
    ['a JWT of nobody', () => 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'],
    [
      'a basic credential',
      () => `Basic ${Buffer.from(`a@b.example:${newPersonalToken()}`).toString('base64')}`,
    ],
  ])(
    'with %s are limited by their address, and then a 429 in place of the 401',
    async (_what, authorization) => {
      const from = `192.0.2.${10 + ((now / 60_000) % 200)}`;
      for (let left = LIMIT - 1; left >= 0; left -= 1) {
        const answer = await ask(from, authorization());
        expect(answer.status).toBe(401);
        expect(answer.headers.get('ratelimit')).toBe(`"default";r=${left};t=60`);
      }
      const refused = await ask(from, authorization());
      expect(refused.status).toBe(429);
      expect(refused.body.type).toMatch(/\/v1\/rate-limited$/);
      expect(refused.headers.get('retry-after')).toBe('60');
      expect(refused.headers.get('www-authenticate')).toBeNull();
      expect((await ask('198.51.100.1', authorization())).status).toBe(401);
      now += 60_000;
      expect((await ask(from, authorization())).status).toBe(401);
    },
  );

  it('count together with those to routes that need none', async () => {
    for (let sent = 0; sent < LIMIT; sent += 1)
      expect((await ask('192.0.2.1', undefined, '/sign-in')).status).toBe(200);
    expect((await ask('192.0.2.1')).status).toBe(429);
  });

  it('do not lock out who has a token, known to the server or not, nor use up their limit', async () => {
    const world = createFixtures(server);
    const known = await world.user();
    expect((await ask('192.0.2.2', `Bearer ${known.token}`)).status).toBe(404);
    await spend('192.0.2.2');
    expect((await ask('192.0.2.2')).status).toBe(429);
    const unknown = await world.user();
    const jwt = await world.token(unknown.id, { kind: 'jwt', expiresAt: now + 3_600_000 });
    for (const token of [known.token, unknown.token, jwt.token]) {
      const answer = await ask('192.0.2.2', `Bearer ${token}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('ratelimit')).toMatch(/r=[1-4];/);
    }
  });

  it('are refused in an order of its own: a valid token that lacks a scope is a 403, whatever the address sent', async () => {
    await spend('192.0.2.3');
    const user = await createFixtures(server).user();
    const { token } = await createFixtures(server).token(user.id, { scopes: ['tag_gr'] });
    expect((await ask('192.0.2.3', `Bearer ${token}`)).status).toBe(403);
  });

  it('cost the database a few questions, however many they are', async () => {
    await spend('192.0.2.4');
    const asked = await questions(async () => {
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => ask('192.0.2.4', `Bearer ${newPersonalToken()}`)),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    });
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(100);
  });

  it('with a token that was revoked are no way around that', async () => {
    const { db } = server.context;
    const user = await createFixtures(server).user();
    await db.write((tx) => revokeToken(tx, cliAttribution(now), user.token));
    await spend('192.0.2.5');
    const asked = await questions(() =>
      Promise.all(Array.from({ length: 200 }, () => ask('192.0.2.5', `Bearer ${user.token}`))),
    );
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(100);
  });
});

it('The limit is 3,000 a minute unless told', () => {
  expect(loadConfig({}, {}).rateLimit).toBe(3_000);
});

describe('A token without its scheme', () => {
  it.each(['/v1/assessments/none/testing_hours', '/api/streaming/v1/none/assets/none/ports'])(
    'is told so at %s, and not repeated',
    async (path) => {
      const { token, id } = await createFixtures(server).user();
      const jwt = await createFixtures(server).token(id, { kind: 'jwt', expiresAt: now + 3_600_000 });
      for (const alone of [token, jwt.token]) {
        const answer = await ask('192.0.2.6', alone, path);
        expect(answer.status).toBe(401);
        expect(answer.body.detail).toContain('Authorization: Bearer <token>');
        expect(answer.text).not.toContain(alone);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="assay"');
      }
    },
  );
});
