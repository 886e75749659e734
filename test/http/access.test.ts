import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import {
  ASSET_WRITE_SCOPES,
  SCOPES,
  type Scope,
  sufficientScopes,
  TAG_WRITE_SCOPES,
  TAG_SCOPES,
} from '../../src/auth/scopes.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { openContext } from '../../src/context.ts';
import { revokeToken } from '../../src/domain/tokens/tokens.ts';
import { startSecondServer, startTestServer, type TestServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

/** One request per area that passes access control with any valid credential and scope, then finds nothing. */
const PROBES = {
  v1: ['GET', '/v1/assessments/none/testing_hours', undefined, 404],
  tagging: ['PATCH', '/api/tagging/v1.0/organizations/none/tags', { uids: ['x'] }, 422],
  assessment: ['GET', '/api/assessment/v1/assessment-groups/999999/members', undefined, 404],
  asset: ['PATCH', '/api/asset/v2/listings/none/assets', {}, 404],
  streaming: ['GET', '/api/streaming/v1/none/assets/none/ports', undefined, 404],
} as const;
type Area = keyof typeof PROBES;
const AREAS = Object.keys(PROBES) as Area[];

let now = Date.UTC(2026, 5, 1);

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
await fixtures.organization('acmeaccess');
const staff = await fixtures.user();

function probe(area: Area, headers: Record<string, string>, target: TestServer = server) {
  const [method, path, body] = PROBES[area];
  return target.request(method, path, { headers, body });
}

const bearer = (token: string, scheme = 'Bearer') => ({ authorization: `${scheme} ${token}` });
const basic = (email: string, token: string) => ({
  authorization: `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}`,
});

describe('Credentials', () => {
  it.each(AREAS)(
    "%s accepts a personal access token and a JWT as bearer, regardless of the scheme's case",
    async (area) => {
      const jwt = await fixtures.token(staff.id, { kind: 'jwt', expiresAt: now + 3_600_000 });
      for (const headers of [bearer(staff.token), bearer(jwt.token), bearer(staff.token, 'bEARER')]) {
        expect((await probe(area, headers)).status).toBe(PROBES[area][3]);
      }
    },
  );

  it('V1 accepts basic authentication and X-Auth too', async () => {
    expect((await probe('v1', basic(staff.email, staff.token))).status).toBe(404);
    expect((await probe('v1', basic(staff.email.toUpperCase(), staff.token))).status).toBe(404);
    expect((await probe('v1', { 'x-auth': staff.token })).status).toBe(404);
  });

  it('V1 rejects a token with another email address, and a JWT in place of a personal access token', async () => {
    const jwt = await fixtures.token(staff.id, { kind: 'jwt', expiresAt: now + 3_600_000 });
    for (const headers of [
      basic('someone@example.com', staff.token),
      basic(staff.email, jwt.token),
      { 'x-auth': jwt.token },
    ]) {
      expect((await probe('v1', headers)).status).toBe(401);
    }
  });

  it('V1 rejects several schemes in one request', async () => {
    const response = await probe('v1', { ...bearer(staff.token), 'x-auth': staff.token });
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      status: 400,
      type: expect.stringMatching(/\/v1\/invalid-request$/),
    });
  });

  it('V1 rejects two Authorization headers, although Node.js drops one', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(server.origin + PROBES.v1[1], (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.setHeader('authorization', [`Bearer ${staff.token}`, 'Basic eDp5']);
      request.on('error', reject);
      request.end();
    });
    expect(status).toBe(400);
  });

  it.each(AREAS.filter((area) => area !== 'v1'))('%s considers only the bearer token', async (area) => {
    expect((await probe(area, { 'x-auth': staff.token })).status).toBe(401);
    expect((await probe(area, basic(staff.email, staff.token))).status).toBe(401);
    expect((await probe(area, { ...bearer(staff.token), 'x-auth': 'nonsense' })).status).toBe(
      PROBES[area][3],
    );
  });

  const flipped = (token: string) => token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
  const BAD: [string, (token: string) => Record<string, string>][] = [
    ['an empty bearer token', () => bearer('')],
    ['a scheme without credentials', () => ({ authorization: 'Bearer' })],
    ['another scheme', () => ({ authorization: 'Digest username="x"' })],
    ['a token that was never issued', () => bearer('assay_nothing')],
    ['a token with another checksum', (token) => bearer(flipped(token))],
    ['a malformed token', () => bearer('eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.')],
  ];
  it.each(BAD)('%s returns 401 in every area', async (_name, headers) => {
    for (const area of AREAS) {
      const response = await probe(area, headers(staff.token));
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="assay", error="invalid_token"');
    }
  });

  it('returns 401 that names the Bearer scheme for a valid token under another scheme', async () => {
    for (const area of AREAS) {
      const { status, body } = await probe(area, { authorization: `Token ${staff.token}` });
      expect([area, status]).toEqual([area, 401]);
      expect(JSON.stringify(body)).toContain('must use the Bearer');
      expect(JSON.stringify(body)).not.toContain(staff.token);
    }
  });

  it('returns 401 with a bare challenge without a credential', async () => {
    for (const area of AREAS) {
      const response = await probe(area, {});
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="assay"');
    }
  });

  it('returns 401 for a JWT signed with another key or with changed claims', async () => {
    const { token } = await fixtures.token(staff.id, { kind: 'jwt', expiresAt: now + 3_600_000 });
    const [head, payload, signature] = token.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const forged = Buffer.from(JSON.stringify({ ...claims, exp: 9_999_999_999 })).toString('base64url');
    expect((await probe('v1', bearer(`${head}.${forged}.${signature}`))).status).toBe(401);
    const otherServer = await startTestServer({}, () => now);
    try {
      const foreignUser = await createFixtures(otherServer).user();
      const foreign = await createFixtures(otherServer).token(foreignUser.id, {
        kind: 'jwt',
        expiresAt: now + 3_600_000,
      });
      expect((await probe('v1', bearer(foreign.token))).status).toBe(401);
    } finally {
      await otherServer.close();
    }
  });

  it('issues JWT access tokens as in RFC 9068, with their key in the JWKS', async () => {
    const { token, id } = await fixtures.token(staff.id, { kind: 'jwt', expiresAt: now + 3_600_000 });
    const [head, payload] = token
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>);
    const jwks = await server.request('GET', '/.well-known/jwks.json');
    expect(head).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: jwks.body.keys[0].kid });
    expect(jwks.body.keys[0]).not.toHaveProperty('d');
    expect(payload).toEqual({
      iss: server.context.addresses.issuer,
      aud: server.context.addresses.issuer,
      sub: staff.uid,
      jti: id,
      client_id: 'assay-cli',
      scope: expect.stringContaining('api'),
      admin: false,
      staff: true,
      iat: now / 1000,
      exp: now / 1000 + 3600,
    });
  });
});

describe('Token lifetime', () => {
  it.each(['personal', 'jwt'] as const)('ends for a %s token when it expires', async (kind) => {
    const { token } = await fixtures.token(staff.id, { kind, expiresAt: now + 60_000 });
    expect((await probe('v1', bearer(token))).status).toBe(404);
    now += 60_000;
    expect((await probe('v1', bearer(token))).status).toBe(401);
  });

  it.each(['personal', 'jwt'] as const)(
    'ends for a revoked %s token immediately, also on an instance that cached it',
    async (kind) => {
      const otherServer = await secondInstance();
      try {
        // Repeated, because an instance that notices the change late would still pass some attempts.
        for (let attempt = 0; attempt < 20; attempt += 1) {
          const { token, id } = await fixtures.token(staff.id, { kind, expiresAt: now + 3_600_000 });
          expect((await otherServer.probe(token)).status).toBe(404);
          expect((await probe('v1', bearer(token))).status).toBe(404);
          await server.context.db.write((tx) => revokeToken(tx, cliChangeContext(now), id));
          expect((await otherServer.probe(token)).status).toBe(401);
          expect((await probe('v1', bearer(token))).status).toBe(401);
        }
      } finally {
        await otherServer.close();
      }
    },
  );

  it('ends with a ban immediately, also on other instances', async () => {
    const admin = await fixtures.user({ organization: 'acmeaccess', admin: true });
    const victim = await fixtures.user({ organization: 'acmeaccess' });
    const otherServer = await secondInstance();
    try {
      expect((await otherServer.probe(victim.token)).status).toBe(404);
      expect((await probe('v1', bearer(victim.token))).status).toBe(404);
      const ban = await server.request('DELETE', `/v1/users/${victim.id}`, { token: admin.token });
      expect(ban.status).toBe(200);
      expect((await probe('v1', bearer(victim.token))).status).toBe(401);
      expect((await otherServer.probe(victim.token)).status).toBe(401);
    } finally {
      await otherServer.close();
    }
  });

  it("returns 403 in every area outside a token's allowed addresses, and accepts it inside", async () => {
    const inside = await fixtures.token(staff.id, { allowedAddresses: ['10.0.0.0/8', '127.0.0.1'] });
    const outside = await fixtures.token(staff.id, { allowedAddresses: ['10.0.0.0/8', '2001:db8::/32'] });
    for (const area of AREAS) {
      expect((await probe(area, bearer(inside.token))).status).toBe(PROBES[area][3]);
      expect((await probe(area, bearer(outside.token))).status).toBe(403);
    }
  });

  it('records when and from where a token was last used', async () => {
    const { token, id } = await fixtures.token(staff.id);
    const app = await buildApp(server.context);
    const response = await app.inject({ method: 'GET', url: PROBES.v1[1], headers: bearer(token) });
    expect(response.statusCode).toBe(404);
    await app.close();
    const row = await server.context.db.read
      .selectFrom('tokens')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ last_used_at: now, last_used_from: '127.0.0.1' });
    expect(row.secret_hash).not.toContain(token);
  });

  /** Another process with the same database and data folder. */
  async function secondInstance() {
    const context = await openContext(server.context.config, { write: () => undefined });
    context.clock = () => now;
    const app = await buildApp(context);
    return {
      async probe(token: string) {
        const response = await app.inject({ method: 'GET', url: PROBES.v1[1], headers: bearer(token) });
        return { status: response.statusCode };
      },
      async close() {
        await app.close();
        await context.db.close();
      },
    };
  }
});

describe('Scopes', () => {
  const ACCEPTED: Record<Area, readonly Scope[]> = {
    v1: ['api'],
    tagging: TAG_SCOPES,
    assessment: ['api'],
    asset: ASSET_WRITE_SCOPES,
    streaming: ['api'],
  };
  const everyone = async () => [staff, await fixtures.user({ organization: 'acmeaccess', admin: true })];

  it.each(AREAS)('%s accepts each of its scopes and no other', async (area) => {
    const issuedScopes = new Set<string>();
    for (const user of await everyone()) {
      for (const scope of Object.keys(SCOPES) as Scope[]) {
        const issued = await fixtures.token(user.id, { scopes: [scope] }).catch(() => undefined);
        if (issued === undefined) continue;
        issuedScopes.add(scope);
        const response = await probe(area, bearer(issued.token));
        if (sufficientScopes(ACCEPTED[area], PROBES[area][0]).includes(scope)) {
          expect([scope, response.status]).toEqual([scope, PROBES[area][3]]);
        } else {
          expect([scope, response.status]).toEqual([scope, 403]);
          expect(response.headers.get('www-authenticate')).toBe(
            `Bearer realm="assay", error="insufficient_scope", scope="${ACCEPTED[area].join(' ')}"`,
          );
        }
      }
    }
    expect([...issuedScopes].sort()).toEqual(Object.keys(SCOPES).sort());
  });

  it('strictScopes rejects read scopes for writing tags', async () => {
    const strict = await startSecondServer(server, { strictScopes: true });
    try {
      const strictWorld = createFixtures(strict);
      const user = await strictWorld.user();
      for (const scope of TAG_SCOPES) {
        const issued = await strictWorld.token(user.id, { scopes: [scope] }).catch(() => undefined);
        if (issued === undefined) continue;
        const response = await probe('tagging', bearer(issued.token), strict);
        expect([scope, response.status]).toEqual([scope, TAG_WRITE_SCOPES.includes(scope) ? 422 : 403]);
      }
    } finally {
      await strict.close();
    }
  });

  it('limits issued tokens to the scopes of the account, now and later', async () => {
    const admin = await fixtures.user({ organization: 'acmeaccess', admin: true });
    await expect(fixtures.token(admin.id, { scopes: ['tag_gw'] })).rejects.toThrow(
      'not allowed for this account',
    );
    const { token } = await fixtures.token(admin.id, { scopes: ['tag_ow', 'api'] });
    expect((await probe('tagging', bearer(token))).status).toBe(422);
    await server.context.db.write(async (tx) => {
      await tx.updateTable('users').set({ admin: 0 }).where('id', '=', admin.id).execute();
    });
    const newApp = await buildApp(server.context);
    const response = await newApp.inject({
      method: 'PATCH',
      url: PROBES.tagging[1],
      headers: bearer(token),
      payload: PROBES.tagging[2],
    });
    await newApp.close();
    expect(response.statusCode).toBe(403);
  });
});

describe('Rate limit', () => {
  it('counts per principal, returns headers, and resets after a minute', async () => {
    let time = Date.UTC(2026, 5, 1);
    const limited = await startSecondServer(server, { rateLimit: 3 }, () => time);
    try {
      const limitedWorld = createFixtures(limited);
      const user = await limitedWorld.user();
      const otherUser = await limitedWorld.user();
      for (const remaining of [2, 1, 0]) {
        const response = await probe('v1', bearer(user.token), limited);
        expect(response.status).toBe(404);
        expect(response.headers.get('ratelimit-policy')).toBe('"default";q=3;w=60');
        expect(response.headers.get('ratelimit')).toBe(`"default";r=${remaining};t=60`);
      }
      for (const area of AREAS) {
        const rejected = await probe(area, bearer(user.token), limited);
        expect(rejected.status).toBe(429);
        expect(rejected.headers.get('retry-after')).toBe('60');
      }
      expect((await probe('v1', {}, limited)).status).toBe(401);
      expect((await probe('v1', bearer(otherUser.token), limited)).status).toBe(404);
      time += 60_000;
      expect((await probe('v1', bearer(user.token), limited)).status).toBe(404);
    } finally {
      await limited.close();
    }
  });

  it('counts requests without credentials per address', async () => {
    const limited = await startSecondServer(server, { rateLimit: 2 });
    try {
      const jwks = () => limited.request('GET', '/.well-known/jwks.json');
      expect([(await jwks()).status, (await jwks()).status, (await jwks()).status]).toEqual([200, 200, 429]);
      expect((await limited.request('GET', '/healthz')).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});

describe('Secrets', () => {
  it('logs and audit events contain no token', async () => {
    const { token } = await fixtures.token(staff.id);
    await probe('v1', bearer(token));
    await probe('v1', { 'x-auth': token });
    await probe('v1', basic(staff.email, token));
    const written = JSON.stringify([server.logs(), await fixtures.auditEvents()]);
    expect(written).toContain('/v1/assessments/none/testing_hours');
    for (const secret of [token, token.slice(6), Buffer.from(`${staff.email}:${token}`).toString('base64')]) {
      expect(written).not.toContain(secret);
    }
  });
});
