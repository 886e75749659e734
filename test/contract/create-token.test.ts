import { beforeEach, describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);
const HOUR = 3_600_000;
const iso = (time: number) => new Date(time).toISOString();

let user: TestUser;
const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
beforeEach(async () => {
  user = await fixtures.user({ organization: (await fixtures.organization()).uid });
});

const create = (body: object, token = user.token, headers = {}) =>
  server.request('POST', '/v1/tokens', { token, body, headers });
/** A token with few scopes, a few addresses and a short lifetime. */
const confined = () =>
  fixtures.token(user.id, {
    scopes: ['api', 'tag_lr'],
    allowedAddresses: ['127.0.0.0/8', '10.0.0.0/8'],
    expiresAt: NOW + HOUR,
  });

describe('Operation 58: create a token', () => {
  it('returns 201 with the token, shown once, with the limits of the credential that creates it', async () => {
    const creator = await confined();
    const response = await create({ name: ' deployment ' }, creator.token);
    expect([response.status, response.headers.get('location'), response.body]).toEqual([
      201,
      null,
      {
        id: expect.any(String),
        name: 'deployment',
        prefix: response.body.token.slice(0, 12),
        scopes: ['api', 'tag_lr'],
        allowed_addresses: ['127.0.0.0/8', '10.0.0.0/8'],
        created_at: iso(NOW),
        expires_at: iso(NOW + HOUR),
        last_used_at: null,
        last_used_from: null,
        revoked_at: null,
        made_by: { kind: 'token', id: creator.id, name: null },
        token: expect.stringMatching(/^assay_\w{42}$/),
      },
    ]);
    expect(response.headers.get('etag')).toMatch(/^"1\./);
    const { body } = await server.request('GET', '/v1/tokens', { token: response.body.token });
    const { token: _secret, ...listed } = response.body;
    expect(body.find(({ id }: { id: string }) => id === listed.id)).toEqual(listed);
    const stored = await server.context.db.read.selectFrom('tokens').selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain(response.body.token);
  });

  it('creates a token with narrower limits', async () => {
    const { token } = await confined();
    const { status, body } = await create(
      {
        name: 'less',
        scopes: ['tag_lr', 'tag_lr'],
        allowed_addresses: ['10.1.2.3', '10.2.0.0/16'],
        expires_at: '2026-11-21T10:31',
      },
      token,
    );
    expect([status, body.scopes, body.allowed_addresses, body.expires_at]).toEqual([
      201,
      ['tag_lr'],
      ['10.1.2.3', '10.2.0.0/16'],
      iso(NOW + 60_000),
    ]);
  });

  it('creates a token that only reads with a token that has the scope api', async () => {
    const { token } = await confined();
    const reader = await create({ name: 'reader', scopes: ['api_read', 'tag_lr'] }, token);
    expect([reader.status, reader.body.scopes]).toEqual([201, ['api_read', 'tag_lr']]);
    const before = (await server.request('GET', '/v1/tokens', { token: user.token })).body;
    const { status, headers, body } = await create({ name: 'more' }, reader.body.token);
    expect([status, headers.get('www-authenticate'), body.detail]).toEqual([
      403,
      'Bearer realm="assay", error="insufficient_scope", scope="api"',
      'The token lacks a required scope. It needs one of: api.',
    ]);
    const after = (await server.request('GET', '/v1/tokens', { token: reader.body.token })).body;
    expect(after.map(({ id }: { id: string }) => id)).toEqual(before.map(({ id }: { id: string }) => id));
  });

  it.each([[{}], [{ scopes: [] }]])('leaves api_read out where no scopes are named: %j', async (scopes) => {
    const both = await fixtures.token(user.id, { scopes: ['api', 'api_read', 'tag_lr'] });
    const { status, body } = await create({ name: 'default', ...scopes }, both.token);
    expect([status, body.scopes]).toEqual([201, ['api', 'tag_lr']]);
    const named = await create({ name: 'named', scopes: ['api', 'api_read'] }, both.token);
    expect([named.status, named.body.scopes]).toEqual([201, ['api', 'api_read']]);
  });

  it.each([
    [{ scopes: ['tag_lw'] }],
    [{ scopes: ['api_read', 'tag_lw'] }],
    [{ allowed_addresses: [] }],
    [{ allowed_addresses: ['10.0.0.0/7'] }],
    [{ allowed_addresses: ['127.0.0.1', '192.0.2.1'] }],
    [{ expires_at: iso(NOW + HOUR + 1) }],
  ])('returns 403 for more than the creating credential has: %j', async (excess) => {
    const { token } = await confined();
    expect((await create({ name: 'more', ...excess }, token)).status).toBe(403);
    // Validation comes first.
    const { status } = await create({ name: 'more', ...excess, scopes: ['none'] }, token);
    expect(status).toBe(422);
  });

  it('lets a credential without limits set any, and treats null and empty scopes as absent', async () => {
    const { status, body } = await create({
      name: 'any',
      scopes: [],
      allowed_addresses: ['::/0'],
      expires_at: null,
    });
    expect([status, body.scopes, body.expires_at]).toEqual([
      201,
      ['api', 'tag_lw', 'tag_lr', 'asset_lr', 'asset_client_lw'],
      null,
    ]);
  });

  it.each([
    [{ scopes: ['none'] }, 'scopes.0'],
    [{ allowed_addresses: ['10.0.0.0/33'] }, 'allowed_addresses.0'],
    [{ expires_at: iso(NOW) }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ name: ' ' }, 'name'],
    [{ name: null }, 'name'],
  ])('returns 422 for %j', async (wrong, property) => {
    const response = await create({ name: 'wrong', ...wrong });
    expect([response.status, response.text]).toEqual([
      422,
      expect.stringContaining(`"property":"${property}"`),
    ]);
  });

  it('limits an account to 100 valid tokens', async () => {
    const { db } = server.context;
    const rows = Array.from({ length: 98 }, (_nothing, index) => ({
      id: `many-${user.id}-${index}`,
      kind: 'personal' as const,
      user_id: user.id,
      secret_hash: `many-${user.id}-${index}`,
      scopes: 'api',
      created_at: NOW,
      prefix: 'assay_many00',
    }));
    await db.write((tx) => tx.insertInto('tokens').values(rows).execute());
    const last = await create({ name: 'the last' });
    expect(last.status).toBe(201);
    expect((await create({ name: 'one too many' })).status).toBe(422);
    await server.request('DELETE', `/v1/tokens/${last.body.id}`, { token: user.token });
    expect((await create({ name: 'again' })).status).toBe(201);
  });

  it('creates once per idempotency key, and returns 409 to a repeat, as the token is not stored', async () => {
    const headers = { 'idempotency-key': `token-${user.id}` };
    const first = await create({ name: 'once' }, user.token, headers);
    const second = await create({ name: 'once' }, user.token, headers);
    expect([first.status, second.status, second.text.includes(first.body.token)]).toEqual([201, 409, false]);
    const storedKeys = await server.context.db.read.selectFrom('idempotency_keys').selectAll().execute();
    expect(JSON.stringify(storedKeys)).not.toContain(first.body.token);
    const { body } = await server.request('GET', '/v1/tokens', { token: user.token });
    expect(body).toHaveLength(2);
  });

  it('records the token without its secret', async () => {
    const response = await create({ name: 'recorded', allowed_addresses: ['127.0.0.1'] });
    const [event, ...otherEvents] = (await fixtures.auditEvents()).filter(
      ({ request_id }) => request_id === response.headers.get('x-request-id'),
    );
    expect([event?.action, event?.object_id, otherEvents]).toEqual(['token.create', response.body.id, []]);
    expect(JSON.parse(event?.after ?? '')).toEqual({
      user: user.uid,
      kind: 'personal',
      name: 'recorded',
      scopes: response.body.scopes.join(' '),
      expires_at: null,
      allowed_addresses: ['127.0.0.1'],
      made_by: expect.any(String),
    });
  });
});
