import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import type { ExternalIssuerSettings } from '../../src/auth/external-issuer.ts';
import { ConfigError, loadConfig } from '../../src/config/config.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { bumpCredentialVersion } from '../../src/domain/tokens/credentials.ts';
import { startSecondServer, type TestServer, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const AUDIENCE = 'https://assay.example/api';

let now = Date.UTC(2026, 5, 1);
const folder = mkdtempSync(join(tmpdir(), 'assay-external-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let keys: { kid: string; alg: string; privateKey: CryptoKey; jwk: JWK }[];
let fetched = 0;
let responses: 'keys' | 'error' | 'nonsense' = 'keys';
let held: Promise<void> | undefined;
const keyServer = createServer(async (_request, response) => {
  fetched += 1;
  await held;
  held = undefined;
  response.statusCode = responses === 'error' ? 500 : 200;
  response.setHeader('content-type', 'application/json');
  response.end(responses === 'keys' ? JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }) : '"nonsense"');
});
let issuer: string;

/** Holds the next response of the issuer until `release` is called; `asked` resolves when it is requested. */
function holdNextResponse(): { requested: Promise<void>; release: () => void } {
  let release = () => {};
  const requested = new Promise<void>((resolve) => {
    keyServer.prependOnceListener('request', () => {
      held = new Promise((open) => (release = open));
      resolve();
    });
  });
  return { requested, release: () => release() };
}

async function newKey(kid: string, alg = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

let shared: TestServer;
let server: TestServer;
let user: TestUser;
const started: TestServer[] = [];

const settings = (overrides: Partial<ExternalIssuerSettings> = {}): ExternalIssuerSettings => ({
  issuer,
  keys: new URL('/keys', issuer),
  audience: AUDIENCE,
  claims: { user: 'sub', scope: 'scope', organization: undefined },
  scopes: undefined,
  trustEmail: false,
  ...overrides,
});

async function start(overrides: Partial<ExternalIssuerSettings> = {}): Promise<TestServer> {
  const secondServer = await startSecondServer(shared, { externalIssuer: settings(overrides) });
  started.push(secondServer);
  return secondServer;
}

beforeAll(async () => {
  await new Promise<void>((resolve) => keyServer.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/`;
  keys = [await newKey('first'), await newKey('second', 'RS256')];
  shared = await useSharedServer(() => now);
  server = await start();
  await createFixtures(server).organization('acmeissuer');
  user = await createFixtures(server).user({ organization: 'acmeissuer', admin: true });
});
afterAll(async () => {
  for (const running of started) await running.close();
  keyServer.close();
});
beforeEach(() => {
  responses = 'keys';
});

interface Signing {
  key?: { kid: string; alg: string; privateKey: CryptoKey };
  typ?: string | null;
  kid?: string;
}

/** A valid token of the issuer for the user by default. */
function sign(
  claims: JWTPayload = {},
  { key = keys[0], typ = 'at+jwt', kid }: Signing = {},
): Promise<string> {
  if (key === undefined) throw new Error('There is no key yet.');
  const seconds = Math.floor(now / 1_000);
  return new SignJWT({
    iss: issuer,
    aud: AUDIENCE,
    sub: user.uid,
    iat: seconds,
    exp: seconds + 300,
    jti: 'token-1',
    client_id: 'gateway',
    scope: 'api tag_ow',
    ...claims,
  })
    .setProtectedHeader({ alg: key.alg, kid: kid ?? key.kid, ...(typ === null ? {} : { typ }) })
    .sign(key.privateKey);
}

const TAGS = '/api/tagging/v1.0/organizations/acmeissuer/tags';
let counter = 0;
/** Calls operation 8, which `tag_ow` allows admins: returns 201 for a valid token. */
const use = (token: string, target = server) =>
  target.request('POST', TAGS, { token, body: { tags: [{ name: `tag ${(counter += 1)}` }] } });
const status = async (token: string, target = server) => (await use(token, target)).status;

describe('External token', () => {
  it('authenticates its account with its scopes, and is named in the audit log', async () => {
    const token = await sign({ jti: 'named-token' });
    expect(await status(token)).toBe(201);
    const events = await createFixtures(server).auditEvents();
    expect(events.at(-1)).toMatchObject({ user_id: user.id, credential_id: 'external:named-token' });
    const response = await server.request('GET', '/v1/assessments/none/testing_hours', { token });
    expect(response.status).toBe(404);
  });

  it('is named by its hash without a plain jti', async () => {
    for (const jti of [undefined, 'x'.repeat(101), 'two words']) {
      expect(await status(await sign({ jti } as JWTPayload))).toBe(201);
      const events = await createFixtures(server).auditEvents();
      expect(events.at(-1)?.credential_id).toMatch(/^external:sha256:[0-9a-f]{64}$/);
    }
  });

  it('accepts any key of the issuer and the full media type (RFC 9068, section 2.1)', async () => {
    expect(await status(await sign({}, { key: keys[1]! }))).toBe(201);
    expect(await status(await sign({}, { typ: 'application/at+jwt' }))).toBe(201);
    expect(await status(await sign({ aud: ['https://else.example', AUDIENCE] }))).toBe(201);
  });

  it('is limited to the scopes of its account', async () => {
    const reader = await createFixtures(server).user({ organization: 'acmeissuer' });
    const response = await use(await sign({ sub: reader.uid, scope: 'tag_ow tag_gw asset_gw' }));
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
  });

  it('that has the scope api_read only reads', async () => {
    const token = await sign({ scope: 'api_read' });
    expect((await server.request('GET', '/v1/users/whoami', { token })).body.scopes).toEqual(['api_read']);
    const body = { name: 'more' };
    expect((await server.request('POST', '/v1/tokens', { token, body })).status).toBe(403);
  });

  it('may list its scopes as an array', async () => {
    expect(await status(await sign({ scope: ['tag_ow'] } as JWTPayload))).toBe(201);
    expect(await status(await sign({ scope: 42 } as JWTPayload))).toBe(403);
    expect(await status(await sign({ scope: 'constructor toString' }))).toBe(403);
  });

  it('is accepted as a bearer token only', async () => {
    const token = await sign();
    const path = '/v1/assessments/none/testing_hours';
    for (const headers of [
      { 'x-auth': token },
      { authorization: `Basic ${Buffer.from(`${user.email}:${token}`).toString('base64')}` },
    ]) {
      expect((await server.request('GET', path, { headers })).status).toBe(401);
    }
  });

  it('creates no row, and its last use is not stored', async () => {
    await use(await sign({ jti: 'no-row' }));
    await use(user.token);
    const { db } = server.context;
    const rows = await db.read.selectFrom('tokens').select('id').execute();
    expect(rows.map(({ id }) => id).filter((id) => id.includes('external'))).toEqual([]);
  });
});

describe('Validation (RFC 9068, section 4)', () => {
  it.each<[string, () => Promise<string>]>([
    ['signed with another key', async () => sign({}, { key: await newKey('first') })],
    ['with an unknown key id', () => sign({}, { kid: 'unknown' })],
    ['of another type, such as an ID token', () => sign({}, { typ: 'JWT' })],
    ['without a type', () => sign({}, { typ: null })],
    ['for another audience', () => sign({ aud: 'https://else.example' })],
    ['without an audience', () => sign({ aud: undefined } as unknown as JWTPayload)],
    ['that has expired', () => sign({ exp: Math.floor(now / 1_000) - 6 })],
    ['without an expiry', () => sign({ exp: undefined } as unknown as JWTPayload)],
    ['that is not valid yet', () => sign({ nbf: Math.floor(now / 1_000) + 60 })],
    ['for an unknown account', () => sign({ sub: 'nobody' })],
    ['without a subject', () => sign({ sub: undefined } as unknown as JWTPayload)],
    ['with a subject that no account can have', () => sign({ sub: 'nul\0' })],
    ['with an email address in place of a uid', () => sign({ sub: user.email })],
    ['of an issuer that differs by a slash', () => sign({ iss: issuer.replace(/\/$/, '') })],
  ])('rejects a token %s', async (_what, token) => {
    const response = await use(await token());
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  it('rejects a token signed with a secret or not at all', async () => {
    const payload = (await sign()).split('.')[1] ?? '';
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`;
    const publicKey = new TextEncoder().encode(JSON.stringify(keys[0]?.jwk));
    const confused = await new SignJWT(JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload)
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: 'first' })
      .sign(publicKey);
    expect([await status(unsigned), await status(confused)]).toEqual([401, 401]);
  });

  it('rejects a token that claims our issuer', async () => {
    const ownIssuer = server.context.addresses.issuer;
    expect(await status(await sign({ iss: ownIssuer, aud: ownIssuer }))).toBe(401);
  });
});

describe('Token lifetime', () => {
  it('ends at the expiry, also for a cached token', async () => {
    const token = await sign({ exp: Math.floor(now / 1_000) + 60 });
    expect(await status(token)).toBe(201);
    now += 60_000 + 5_000;
    expect(await status(token)).toBe(401);
  });

  it('ends immediately when the account is banned', async () => {
    const banned = await createFixtures(server).user({ organization: 'acmeissuer', admin: true });
    const token = await sign({ sub: banned.uid });
    expect(await status(token)).toBe(201);
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), banned.id));
    expect(await status(token)).toBe(401);
    expect(await status(await sign({ sub: banned.uid, jti: 'another' }))).toBe(401);
  });

  it('does not resume when the ban ends, except for tokens issued later', async () => {
    const banned = await createFixtures(server).user({ organization: 'acmeissuer', admin: true });
    const path = `/v1/users/${banned.id}`;
    const before = await sign({ sub: banned.uid });
    expect(await status(before)).toBe(201);
    expect((await server.request('DELETE', path, { token: user.token })).status).toBe(200);
    now += 2_000;
    const meanwhile = await sign({ sub: banned.uid, jti: 'meanwhile' });
    now += 2_000;
    const { status: done } = await server.request('PUT', `${path}?reactivate=true`, { token: user.token });
    expect(done).toBe(200);
    now += 2_000;
    const undated = await sign({ sub: banned.uid, jti: 'undated', iat: undefined } as unknown as JWTPayload);
    for (const token of [before, meanwhile, undated]) expect(await status(token)).toBe(401);
    expect(await status(await sign({ sub: banned.uid, jti: 'afterwards' }))).toBe(201);
  });

  it('follows the rights of the account immediately', async () => {
    const demoted = await createFixtures(server).user({ organization: 'acmeissuer', admin: true });
    const token = await sign({ sub: demoted.uid, scope: 'tag_ow' });
    const setAdmin = (admin: 0 | 1) =>
      server.context.db.write(async (tx) => {
        await tx.updateTable('users').set({ admin }).where('id', '=', demoted.id).execute();
        await bumpCredentialVersion(tx);
      });
    expect(await status(token)).toBe(201);
    await setAdmin(0);
    expect(await status(token)).toBe(403);
    await setAdmin(1);
    expect(await status(token)).toBe(201);
  });
});

describe('Keys of the external issuer', () => {
  it('are fetched once for many tokens, and never for tokens of others', async () => {
    const secondServer = await start();
    const admin = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    const before = fetched;
    for (const iss of [
      'https://evil.example',
      secondServer.context.addresses.issuer,
      'https://evil.example/',
    ])
      expect(await status(await sign({ iss }), secondServer)).toBe(401);
    for (const junk of ['x', 'a.b.c', 'eyJ.eyJ.x']) expect(await status(junk, secondServer)).toBe(401);
    expect(fetched).toBe(before);
    for (const jti of ['1', '2', '3']) {
      expect(await status(await sign({ jti, sub: admin.uid }), secondServer)).toBe(201);
    }
    // An unknown key id does not cause repeated requests.
    for (const kid of ['a', 'b', 'c']) expect(await status(await sign({}, { kid }), secondServer)).toBe(401);
    expect(fetched).toBe(before + 1);
  });

  it.each(['error', 'nonsense'] as const)(
    'that cannot be fetched (%s) cause 503 until a later request succeeds',
    async (failure) => {
      const secondServer = await start();
      const admin = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
      const token = await sign({ sub: admin.uid });
      responses = failure;
      const before = fetched;
      for (let count = 0; count < 3; count += 1) {
        const response = await use(token, secondServer);
        expect(response.status).toBe(503);
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      // Other tokens keep working, and the keys are not requested again immediately.
      expect(await status(admin.token, secondServer)).toBe(201);
      expect(fetched).toBe(before + 1);
      responses = 'keys';
      now += 2_000;
      expect(await status(token, secondServer)).toBe(201);
    },
  );

  it('that are known are used while one that is not known cannot be fetched', async () => {
    const secondServer = await start();
    const admin = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    const statusOf = (jti: string) =>
      sign({ sub: admin.uid, jti }).then((token) => status(token, secondServer));
    expect(await statusOf('before')).toBe(201);
    now += 60_000;
    responses = 'error';
    const before = fetched;
    for (const kid of ['a', 'b']) expect(await status(await sign({}, { kid }), secondServer)).toBe(503);
    expect(await statusOf('after')).toBe(201);
    now += 59_999;
    expect(await status(await sign({}, { kid: 'c' }), secondServer)).toBe(503);
    expect(fetched).toBe(before + 1);
    expect(await statusOf('later')).toBe(201);
    // Ten minutes after the last response.
    now += 480_001;
    expect(await statusOf('last')).toBe(503);
  });

  it('that are known are used while another one is being fetched', async () => {
    const secondServer = await start();
    const admin = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    expect(await status(await sign({ sub: admin.uid }), secondServer)).toBe(201);
    now += 60_000;
    const { requested, release } = holdNextResponse();
    const waiting = ['a', 'b'].map(async (kid) => status(await sign({}, { kid }), secondServer));
    await requested;
    const before = fetched;
    expect(await status(await sign({ sub: admin.uid, jti: 'meanwhile' }), secondServer)).toBe(201);
    release();
    expect(await Promise.all(waiting)).toEqual([401, 401]);
    expect(fetched).toBe(before);
  });

  it('that are not known are fetched once a minute', async () => {
    const secondServer = await start();
    const admin = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    const before = fetched;
    expect(await status(await sign({ sub: admin.uid }), secondServer)).toBe(201);
    for (let minute = 0; minute < 2; minute += 1) {
      for (const kid of ['a', 'b', 'c'])
        expect(await status(await sign({}, { kid }), secondServer)).toBe(401);
      now += 60_000;
    }
    expect(fetched).toBe(before + 2);
  });

  it('are followed when the issuer replaces them', async () => {
    const secondServer = await start();
    const admin = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    const statusOf = async (key: Signing['key'], jti: string) =>
      status(await sign({ sub: admin.uid, jti }, { ...(key && { key }) }), secondServer);
    const [first, ...otherKeys] = keys;
    const third = await newKey('third');
    onTestFinished(() => {
      keys = first === undefined ? [] : [first, ...otherKeys];
    });
    expect(await statusOf(first, 'a')).toBe(201);
    keys = [third];
    now += 60_000;
    expect(await statusOf(third, 'b')).toBe(201);
    expect(await statusOf(first, 'c')).toBe(401);
  });

  it('that the issuer has removed are rejected after ten minutes', async () => {
    const secondServer = await start();
    const admin = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    const [removed, ...otherKeys] = keys;
    onTestFinished(() => {
      keys = removed === undefined ? [] : [removed, ...otherKeys];
    });
    const statusOf = async (jti: string) =>
      status(await sign({ sub: admin.uid, jti }, { ...(removed && { key: removed }) }), secondServer);
    expect(await statusOf('a')).toBe(201);
    keys = otherKeys;
    now += 599_999;
    expect(await statusOf('b')).toBe(201);
    now += 1;
    expect(await statusOf('c')).toBe(401);
  });

  it('can be read from a file', async () => {
    const file = join(folder, 'keys.json');
    writeFileSync(file, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
    const { externalIssuer } = loadConfig(
      {},
      {
        ASSAY_EXTERNAL_ISSUER: issuer,
        ASSAY_EXTERNAL_JWKS: file,
        ASSAY_EXTERNAL_AUDIENCE: AUDIENCE,
      },
    );
    const before = fetched;
    const secondServer = await start(externalIssuer);
    const admin = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    expect(await status(await sign({ sub: admin.uid }), secondServer)).toBe(201);
    expect(await status(await sign({ sub: admin.uid }, { kid: 'unknown' }), secondServer)).toBe(401);
    expect(fetched).toBe(before);
  });
});

describe('Claims', () => {
  it.each([false, true])('identify the account by a verified address (trusted: %s)', async (trustEmail) => {
    const secondServer = await start({
      claims: { user: 'email', scope: 'scp', organization: undefined },
      trustEmail,
    });
    const admin = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    const claims = { email: admin.email.toUpperCase(), scp: ['tag_ow'], sub: 'anything' };
    const statusWith = async (overrides: JWTPayload) =>
      status(await sign({ ...claims, ...overrides }), secondServer);
    for (const verified of [true, 'true']) expect(await statusWith({ email_verified: verified })).toBe(201);
    for (const unverified of [false, 'false', 0, 1, 'TRUE', ''])
      expect(await statusWith({ email_verified: unverified })).toBe(401);
    for (const missing of [null, undefined])
      expect(await statusWith({ email_verified: missing })).toBe(trustEmail ? 201 : 401);
    expect(await statusWith({ email: undefined, upn: admin.email })).toBe(401);
    expect(await statusWith({ email: undefined, sub: admin.uid, email_verified: true })).toBe(401);
  });

  it("contain the organization, which must be the account's; staff have none", async () => {
    const secondServer = await start({ claims: { user: 'sub', scope: 'scope', organization: 'org' } });
    await createFixtures(secondServer).organization('umbra');
    const { uid: sub } = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    const staff = await createFixtures(secondServer).user();
    expect(await status(await sign({ sub, org: 'acmeissuer' }), secondServer)).toBe(201);
    for (const org of ['umbra', '', ['acmeissuer'], undefined])
      expect(await status(await sign({ sub, org }), secondServer)).toBe(401);
    const global = { sub: staff.uid, scope: 'tag_gw' };
    expect(await status(await sign(global), secondServer)).toBe(201);
    expect(await status(await sign({ ...global, org: 'acmeissuer' }), secondServer)).toBe(401);
  });

  it('map scopes, and then reject unmapped ones', async () => {
    const secondServer = await start({ scopes: new Map([['tags.write', ['tag_ow', 'tag_lw']]]) });
    const { uid: sub } = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    expect(await status(await sign({ sub, scope: 'openid tags.write' }), secondServer)).toBe(201);
    expect(await status(await sign({ sub, scope: 'tag_ow' }), secondServer)).toBe(403);
  });

  it('use our issuer as the default audience', async () => {
    const secondServer = await start({ audience: undefined });
    const { uid: sub } = await createFixtures(secondServer).user({ organization: 'acmeissuer', admin: true });
    expect(await status(await sign({ sub, aud: secondServer.context.addresses.issuer }), secondServer)).toBe(
      201,
    );
    expect(await status(await sign({ sub }), secondServer)).toBe(401);
  });
});

describe('Configuration', () => {
  const base = {
    ASSAY_EXTERNAL_ISSUER: 'https://login.example/',
    ASSAY_EXTERNAL_JWKS: 'https://login.example/keys',
  };

  it('reads every setting', () => {
    expect(
      loadConfig(
        {},
        {
          ...base,
          ASSAY_EXTERNAL_AUDIENCE: 'assay',
          ASSAY_EXTERNAL_CLAIMS: 'user=email scope=scp, organization=https://acme.example/org',
          ASSAY_EXTERNAL_SCOPES: 'tags.write=tag_ow tags.write=tag_lw urn:x=y=api',
          ASSAY_EXTERNAL_TRUST_EMAIL: 'true',
        },
      ).externalIssuer,
    ).toEqual({
      issuer: 'https://login.example/',
      keys: new URL('https://login.example/keys'),
      audience: 'assay',
      claims: { user: 'email', scope: 'scp', organization: 'https://acme.example/org' },
      scopes: new Map([
        ['tags.write', ['tag_ow', 'tag_lw']],
        ['urn:x=y', ['api']],
      ]),
      trustEmail: true,
    });
    expect(loadConfig({}, base).externalIssuer).toMatchObject({
      claims: { user: 'sub', scope: 'scope', organization: undefined },
      scopes: undefined,
      trustEmail: false,
    });
    expect(loadConfig({}, {}).externalIssuer).toBeUndefined();
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ ASSAY_EXTERNAL_AUDIENCE: 'x' }, /ASSAY_EXTERNAL_AUDIENCE is set without ASSAY_EXTERNAL_ISSUER/],
    [{ ASSAY_EXTERNAL_ISSUER: 'login.example' }, /ASSAY_EXTERNAL_ISSUER must be an https URL/],
    [{ ASSAY_EXTERNAL_ISSUER: 'http://login.example' }, /ASSAY_EXTERNAL_ISSUER must be an https URL/],
    [{ ASSAY_EXTERNAL_ISSUER: 'https://login.example' }, /ASSAY_EXTERNAL_JWKS must name the keys/],
    [{ ...base, ASSAY_ISSUER: 'https://login.example/' }, /must not be the issuer of this server/],
    [{ ...base, ASSAY_EXTERNAL_JWKS: 'http://login.example/keys' }, /must be an https URL or a file/],
    [{ ...base, ASSAY_EXTERNAL_JWKS: '/does/not/exist' }, /could not be read \(ENOENT\)/],
    [{ ...base, ASSAY_EXTERNAL_JWKS: new URL(import.meta.url).pathname }, /could not be read \(not JSON\)/],
    [
      { ...base, ASSAY_EXTERNAL_JWKS: new URL('../../package.json', import.meta.url).pathname },
      /is not a JSON Web Key Set/,
    ],
    [{ ...base, ASSAY_EXTERNAL_CLAIMS: 'user' }, /must contain pairs like name=value, not "user"/],
    [{ ...base, ASSAY_EXTERNAL_CLAIMS: 'role=x' }, /"role" is unknown/],
    [{ ...base, ASSAY_EXTERNAL_SCOPES: 'theirs=nothing' }, /"nothing" is not one/],
    [{ ASSAY_EXTERNAL_TRUST_EMAIL: 'true' }, /TRUST_EMAIL is set without ASSAY_EXTERNAL_ISSUER/],
    [{ ...base, ASSAY_EXTERNAL_TRUST_EMAIL: 'maybe' }, /TRUST_EMAIL must be true or false/],
    [
      { ...base, ASSAY_EXTERNAL_TRUST_EMAIL: 'true' },
      /TRUST_EMAIL needs user=email in ASSAY_EXTERNAL_CLAIMS/,
    ],
    ...[
      'https://login.microsoftonline.com/common/v2.0',
      'https://login.microsoftonline.us/organizations/v2.0',
      'https://sts.windows.net/9188040d-6c67-4c5b-b112-36a304b66dad/',
      'https://accounts.google.com',
    ].map((tenants): [Record<string, string>, RegExp] => [
      {
        ...base,
        ASSAY_EXTERNAL_ISSUER: tenants,
        ASSAY_EXTERNAL_CLAIMS: 'user=email',
        ASSAY_EXTERNAL_TRUST_EMAIL: 'true',
      },
      /TRUST_EMAIL cannot be used with https:.*, which several organizations share.* Set ASSAY_EXTERNAL_ISSUER to/,
    ]),
  ])('rejects %j with the reason', (env, message) => {
    expect(() => loadConfig({}, env)).toThrow(ConfigError);
    expect(() => loadConfig({}, env)).toThrow(message);
  });
});
