import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 22, 8);
const PATH = '/api/asset/v2/assets';
let organization: string;
let admin: TestUser;

const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.user({ organization, admin: true });
});

const create = (body: unknown, token: string = admin.token, headers: Record<string, string> = {}) =>
  server.request('POST', PATH, { token, body, headers });
const host = (location: string, overrides: object = {}) => ({
  organizationUid: organization,
  assetType: 'host',
  location,
  ...overrides,
});
const expectInvalid = (response: Awaited<ReturnType<typeof create>>, property: string) =>
  expectProblem(server, response, {
    area: 'asset',
    status: 422,
    kind: 'validation-failed',
    failedValidation: [expect.objectContaining({ property })],
  });

describe('Operation 74: create assets', () => {
  it('creates one asset, returns its Location, and can be read there', async () => {
    const response = await create(host('192.0.2.10'));
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      uid: expect.stringMatching(/^[0-9a-f]{24}$/),
      organizationUid: organization,
      assetType: 'host',
      name: '',
      location: '192.0.2.10',
      description: '',
      criticality: 'undefined',
      writableBy: 'any',
      listings: [],
      tags: [],
      openPortCount: 0,
      vulnerabilityCount: 0,
      firstSeen: null,
      lastSeen: null,
      createdAt: '2026-11-22T08:00:00.000Z',
      updatedAt: '2026-11-22T08:00:00.000Z',
    });
    const location = response.headers.get('location')!;
    expect(location).toBe(`${server.origin}${PATH}/${response.body.uid}`);
    const read = await server.request('GET', location.slice(server.origin.length), { token: admin.token });
    expect(read.body).toEqual(response.body);
    expect(read.headers.get('etag')).toBe(response.headers.get('etag'));
    expect((await fixtures.auditEvents()).at(-1)).toMatchObject({
      action: 'asset.create',
      object_id: response.body.uid,
      user_id: admin.id,
      before: null,
      after: JSON.stringify({
        type: 'host',
        location: '192.0.2.10',
        name: '',
        description: '',
        criticality: 'undefined',
        writable_by: 'any',
      }),
    });
  });

  it('creates an asset with every property, and lists it', async () => {
    const listing = await fixtures.assessment(organization);
    const body = {
      organizationUid: organization,
      assetType: 'webapp',
      location: 'HTTPS://Bücher.example:443/Shop?a=1#top',
      name: ' Shop ',
      description: '# A *shop*',
      criticality: 'high',
      writableBy: 'client',
      listingUid: listing.uid,
    };
    const response = await create(body);
    expect(response.body).toMatchObject({
      location: 'https://xn--bcher-kva.example/Shop?a=1',
      name: 'Shop',
      description: '# A *shop*',
      criticality: 'high',
      writableBy: 'client',
      listings: [{ listingUid: listing.uid, scopeRules: [] }],
    });
    const actions = (await fixtures.auditEvents()).slice(-2).map(({ action }) => action);
    expect(actions).toEqual(['asset.create', 'listing.update']);
  });

  it('treats null as absent', async () => {
    const response = await create(
      host('192.0.2.1', {
        name: null,
        description: null,
        criticality: null,
        writableBy: null,
        listingUid: null,
      }),
    );
    expect(response.body).toMatchObject({ name: '', criticality: 'undefined', writableBy: 'any' });
    expectInvalid(await create({ ...host('192.0.2.2'), location: null }), 'location');
  });

  it.each([
    ['host', '192.0.2.1', '192.0.2.1'],
    ['host', ' 2001:DB8:0:0:0:0:0:1 ', '2001:db8::1'],
    ['host', '2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['host', '2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['host', '::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['host', 'Mail.Example.', 'mail.example'],
    ['host', 'bücher.example', 'xn--bcher-kva.example'],
    ['host', 'under_score.example', 'under_score.example'],
    ['host', 'printer', 'printer'],
    ['webapp', 'http://EXAMPLE.com', 'http://example.com/'],
    ['webapp', 'https://example.com:8443/a/../b', 'https://example.com:8443/b'],
    ['webapp', 'http://[2001:DB8::1]:80/ä', 'http://[2001:db8::1]/%C3%A4'],
  ])('normalizes the location of a %s from %j to %j', async (assetType, location, normalized) => {
    const { body } = await create({ organizationUid: organization, assetType, location });
    expect(body.location).toBe(normalized);
    const repeated = await create({ organizationUid: organization, assetType, location: normalized });
    expect(repeated.status).toBe(409);
  });

  it.each([
    ['host', ''],
    ['host', '192.0.2'],
    ['host', '192.0.2.256'],
    ['host', '0x7f.1'],
    ['host', '192.0.02.1'],
    ['host', 'fe80::1%eth0'],
    ['host', '[::1]'],
    ['host', 'a..b'],
    ['host', '-a.example'],
    ['host', 'a b'],
    ['host', 'example.com/path'],
    ['host', 'example.com:80'],
    ['host', `${'a'.repeat(64)}.example`],
    ['host', `${'a.'.repeat(127)}aa`],
    ['webapp', 'ftp://example.com'],
    ['webapp', 'example.com'],
    ['webapp', 'https://user@example.com/'],
    ['webapp', 'https://:secret@example.com/'],
    ['webapp', `https://example.com/${'ä'.repeat(700)}`],
  ])('rejects a %s at %j', async (assetType, location) => {
    expectInvalid(await create({ organizationUid: organization, assetType, location }), 'location');
  });

  it('uses the name of other assets as their location, and requires it', async () => {
    const body = { organizationUid: organization, assetType: 'network', name: ' Office ' };
    expect((await create(body)).body).toMatchObject({ name: 'Office', location: 'Office' });
    expect((await create({ ...body, assetType: 'mobileapp', location: 'Office' })).status).toBe(201);
    expectInvalid(await create({ ...body, assetType: 'cloudaccount', location: 'else' }), 'location');
    expectInvalid(await create({ organizationUid: organization, assetType: 'network' }), 'name');
    expectInvalid(await create({ ...body, name: 'x'.repeat(256) }), 'name');
  });

  it.each([
    ['name', 'x'.repeat(256)],
    ['name', 'nul\0'],
    ['description', 'half \ud800'],
    ['description', 'x'.repeat(65_537)],
    ['criticality', 'High'],
    ['writableBy', 'nobody'],
    ['assetType', 'server'],
    ['organizationUid', 'nosuch'],
    ['organizationUid', 'NO'],
    ['listingUid', 'nosuch'],
  ])('rejects an invalid %s', async (property, value) => {
    expectInvalid(await create({ ...host('192.0.2.1'), [property]: value }), property);
  });

  it('rejects a location that the organization has, and accepts one of another organization', async () => {
    expect((await create(host('192.0.2.1'))).status).toBe(201);
    expectProblem(server, await create(host('192.0.2.1')), {
      area: 'asset',
      status: 409,
      kind: 'conflict',
      failedValidation: [{ property: 'location', message: 'is already taken', value: '192.0.2.1' }],
    });
    const otherOrganization = (await fixtures.organization()).uid;
    const staff = await fixtures.user();
    expect(
      (await create({ ...host('192.0.2.1'), organizationUid: otherOrganization }, staff.token)).status,
    ).toBe(201);
  });

  it('stores the address as scans look it up', async () => {
    const { body } = await create(host('2001:DB8::9'));
    const rows = await server.context.db.read
      .selectFrom('assets')
      .select(['location', 'address_hex', 'search_name'])
      .where('uid', '=', body.uid)
      .execute();
    expect(rows).toEqual([
      { location: '2001:db8::9', address_hex: '20010db8000000000000000000000009', search_name: '' },
    ]);
  });

  describe('Arrays', () => {
    it('creates all assets in request order', async () => {
      const locations = Array.from({ length: 1_000 }, (_, index) => `10.0.${index >> 8}.${index % 256}`);
      const response = await create(locations.map((location) => host(location)));
      expect(response.status).toBe(201);
      expect(response.body.map(({ location }: { location: string }) => location)).toEqual(locations);
      expect(response.headers.get('etag')).toBeNull();
      expect(response.headers.get('location')).toBeNull();
    });

    it('creates none if one is invalid, and returns its index', async () => {
      const bodies = [host('192.0.2.1'), host('no host'), host('192.0.2.3', { criticality: 'High' })];
      expectProblem(server, await create(bodies), {
        area: 'asset',
        status: 422,
        kind: 'validation-failed',
        failedValidations: [
          { index: 1, failedValidation: [expect.objectContaining({ property: '1.location' })] },
          { index: 2, failedValidation: [expect.objectContaining({ property: '2.criticality' })] },
        ],
      });
      expectProblem(server, await create(bodies.slice(0, 2)), {
        area: 'asset',
        status: 422,
        kind: 'validation-failed',
        failedValidations: [
          {
            index: 1,
            failedValidation: [
              {
                property: '1.location',
                message: 'must be an IPv4 or IPv6 address or a host name',
                value: 'no host',
              },
            ],
          },
        ],
      });
      const list = await server.request('GET', PATH, { token: admin.token });
      expect(list.body).toEqual([]);
    });

    it.each(['192.0.2.1-20', '192.0.2.1-192.0.2.20', '192.0.2.0/24', '2001:db8::/120'])(
      'rejects the range %s',
      async (range) => {
        const response = await create(host(range));
        expectProblem(server, response, {
          area: 'asset',
          status: 422,
          kind: 'validation-failed',
          failedValidation: [
            {
              property: 'location',
              message: 'must be one address or host name, not a range; send an asset for each address',
              value: range,
            },
          ],
        });
        expect((await server.request('GET', PATH, { token: admin.token })).body).toEqual([]);
      },
    );

    it('rejects duplicate locations in any notation', async () => {
      const response = await create([host('mail.example'), host('192.0.2.1'), host('MAIL.example.')]);
      expectProblem(server, response, {
        area: 'asset',
        status: 422,
        kind: 'validation-failed',
        failedValidations: [
          { index: 2, failedValidation: [expect.objectContaining({ property: '2.location' })] },
        ],
      });
      const types = [
        host('192.0.2.1'),
        { ...host(''), assetType: 'network', location: undefined, name: '192.0.2.1' },
      ];
      expect((await create(types)).status).toBe(201);
      const conflict = await create([host('192.0.2.2'), host('192.0.2.1')]);
      expect(conflict.status).toBe(409);
      expect(conflict.body.failedValidations).toMatchObject([{ index: 1 }]);
      expect((await create(host('192.0.2.2'))).status).toBe(201);
    });

    it('returns the index of organizations and listings that the caller cannot see', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const listing = await fixtures.assessment(otherOrganization);
      const response = await create([
        host('192.0.2.1', { listingUid: listing.uid }),
        host('192.0.2.2', { organizationUid: otherOrganization }),
      ]);
      expect(response.status).toBe(422);
      expect(response.body.failedValidations).toMatchObject([
        { index: 0, failedValidation: [{ property: '0.listingUid' }] },
        { index: 1, failedValidation: [{ property: '1.organizationUid' }] },
      ]);
    });

    it('accepts 1 to 1,000 assets', async () => {
      expect((await create([])).status).toBe(422);
      expect((await create([1])).status).toBe(400);
      expectProblem(server, await create(Array.from({ length: 1_001 }, () => ({}))), {
        area: 'asset',
        status: 413,
        kind: 'batch-too-large',
        maxBatchSize: 1_000,
        batchSize: 1_001,
      });
    });
  });

  describe('Access', () => {
    const scoped = async ({ id }: TestUser, ...scopes: string[]) =>
      (await fixtures.token(id, { scopes })).token;

    it('requires a visible listing from tokens with listing scopes only', async () => {
      const member = await fixtures.user({ organization });
      const listing = await fixtures.assessment(organization);
      const closed = await fixtures.assessment(organization);
      await fixtures.access(listing.uid, member.id);
      const token = await scoped(member, 'asset_client_lw');
      expectInvalid(await create(host('192.0.2.1'), token), 'listingUid');
      expectInvalid(await create(host('192.0.2.1', { listingUid: closed.uid }), token), 'listingUid');
      const response = await create(host('192.0.2.1', { listingUid: listing.uid }), token);
      expect(response.status).toBe(201);
      expect(response.body.listings).toHaveLength(1);
    });

    it('requires write access to the created asset', async () => {
      expectInvalid(await create(host('192.0.2.1', { writableBy: 'boss' })), 'writableBy');
      expect((await create(host('192.0.2.1', { writableBy: 'client' }))).status).toBe(201);
      const staff = await fixtures.user();
      const boss = await scoped(staff, 'asset_boss_ow');
      expectInvalid(await create(host('192.0.2.2', { writableBy: 'client' }), boss), 'writableBy');
      expect((await create(host('192.0.2.2', { writableBy: 'boss' }), boss)).status).toBe(201);
      expect((await create(host('192.0.2.3', { writableBy: 'client' }), staff.token)).status).toBe(201);
    });
  });

  it('creates once per idempotency key', async () => {
    const headers = { 'idempotency-key': 'one' };
    const first = await create([host('192.0.2.1')], admin.token, headers);
    const repeated = await create([host('192.0.2.1')], admin.token, headers);
    expect(repeated.status).toBe(201);
    expect(repeated.text).toBe(first.text);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect((await create([host('192.0.2.2')], admin.token, headers)).status).toBe(422);
  });

  it('accepts one of concurrent requests for the same location', async () => {
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => create([host('192.0.2.1'), host('192.0.2.2')])),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });
});
