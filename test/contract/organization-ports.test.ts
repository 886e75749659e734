import { beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import type { ScannedHost } from '../../src/domain/assets/scans/apply-scans.ts';
import { upsertScannedHosts } from '../../src/domain/assets/scans/upsert-hosts.ts';
import { type ObservedPort, ScannedPorts } from '../../src/domain/assets/scans/diff-ports.ts';
import { compactCounters } from '../../src/domain/shared/counters.ts';
import { useSharedServer } from '../harness/server.ts';
import { buildObservedPort } from '../../src/importers/parsing/scanned-hosts.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 10, 22, 8);
let organization: { id: number; uid: string };
let admin: TestUser;

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
});

const port = (number: number, overrides: Partial<ObservedPort> = {}): ObservedPort => ({
  ...buildObservedPort('tcp', number),
  ...overrides,
});
const host = (address: string, ports: ObservedPort[], overrides: Partial<ScannedHost> = {}): ScannedHost => ({
  address,
  ports,
  complete: true,
  unlistedStates: [],
  ...overrides,
});
const EVERY = new ScannedPorts([
  ['tcp', 0, 65_535],
  ['udp', 0, 65_535],
]);
const scan = (...hosts: ScannedHost[]) =>
  server.context.db.write((tx) =>
    upsertScannedHosts(
      tx,
      cliChangeContext((now += 1_000)),
      organization.id,
      hosts.map((scannedHost) => ({ ...scannedHost, scannedPorts: EVERY })),
    ),
  );
const read = (query = '', token: string = admin.token) =>
  server.request('GET', `/api/streaming/v1/${organization.uid}/assets/ports${query}`, { token });
const counts = async (query = '', token: string = admin.token) =>
  (await read(query, token)).body.data.attributes.ports.map(
    ({ number, protocol, asset_count }: { number: number; protocol: string; asset_count: number }) =>
      `${number}/${protocol} ${asset_count}`,
  );
const uidOf = async (address: string): Promise<string> => {
  const row = await server.context.db.read
    .selectFrom('assets')
    .select('uid')
    .where('location', '=', address)
    .where('organization_id', '=', organization.id)
    .executeTakeFirstOrThrow();
  return row.uid;
};

const estate = () =>
  scan(
    host('192.0.2.1', [
      port(443, { service: 'https', product: 'nginx', probed: true }),
      port(22, { service: 'ssh' }),
      port(80, { state: 'closed' }),
      port(81, { state: 'filtered' }),
    ]),
    host('192.0.2.2', [
      port(443, { service: 'HTTPS', product: 'Caddy Ä', probed: true }),
      port(53, { protocol: 'udp' }),
      port(53),
    ]),
    host('192.0.2.3', [port(443, { service: 'ssh', product: 'caddy ä', probed: true })]),
  );

describe('Operation 80: list ports of an organization', () => {
  it('sorts by number of hosts, then by number and protocol, in the envelope of operation 14', async () => {
    await estate();
    expect(await counts()).toEqual(['443/tcp 3', '22/tcp 1', '53/tcp 1', '53/udp 1']);
    expect(await counts('?observed_state=closed')).toEqual(['80/tcp 1']);
    const path = `${server.origin}/api/streaming/v1/${organization.uid}/assets/ports`;
    const meta = { total: 4, page: 2, per_page: 1, total_pages: 4 };
    const links = { next: `${path}?per_page=1&page=3`, prev: `${path}?per_page=1&page=1` };
    expect((await read('?page=2&per_page=1')).body).toEqual({
      data: {
        type: 'asset_list',
        id: organization.uid,
        attributes: { ports: [{ number: 22, protocol: 'tcp', asset_count: 1 }] },
        links,
        meta,
        relationships: {},
      },
      errors: [],
      included: [],
      links,
      meta,
    });
    expect(await counts('?limit=2')).toEqual(['443/tcp 3', '22/tcp 1']);
    expect((await read('?limit=2')).body.meta.total).toBe(2);
    expect(await counts('?page=9')).toEqual([]);
  });

  it('counts ports that scans find, close and find again, before and after the counters are folded', async () => {
    await estate();
    await scan(host('192.0.2.1', [port(443), port(80)]), host('192.0.2.3', [], { down: true }));
    const after = ['443/tcp 2', '53/tcp 1', '53/udp 1', '80/tcp 1'];
    expect(await counts()).toEqual(after);
    expect(await counts('?observed_state=closed')).toEqual(['22/tcp 1', '81/tcp 1', '443/tcp 1']);
    await server.context.db.write((tx) => compactCounters(tx, 10_000, Date.now()));
    expect(await counts()).toEqual(after);
    await scan(host('192.0.2.1', [port(443), port(80)]));
    expect(await counts()).toEqual(after);
    await server.request('DELETE', `/api/asset/v2/assets/${await uidOf('192.0.2.2')}`, {
      token: admin.token,
    });
    expect(await counts()).toEqual(['80/tcp 1', '443/tcp 1']);
  });

  it.each([
    ['?number=53', ['53/tcp 1', '53/udp 1']],
    ['?number=5', []],
    ['?number=80&observed_state=closed', ['80/tcp 1']],
    ['?service_name=https', ['443/tcp 2']],
    ['?service_name=http', []],
    [`?product_name=${encodeURIComponent('CADDY ä')}`, ['443/tcp 2']],
    [`?product_name=${encodeURIComponent('caddy Ä')}&service_name=SSH`, ['443/tcp 1']],
    ['?service_name=ssh&number=22', ['22/tcp 1']],
  ])('filters by %s', async (query, expected) => {
    await estate();
    expect(await counts(query)).toEqual(expected);
    expect((await read(query)).body.meta.total).toBe(expected.length);
  });

  it("counts only the hosts that the user's assessments list", async () => {
    await estate();
    const user = await fixtures.user({ organization: organization.uid });
    const { uid: listing } = await fixtures.assessment(organization.uid);
    const { uid: hidden } = await fixtures.assessment(organization.uid);
    expect(await counts('', user.token)).toEqual([]);
    await fixtures.access(listing, user.id);
    await fixtures.list(listing, await uidOf('192.0.2.2'));
    await fixtures.list(hidden, await uidOf('192.0.2.1'));
    expect(await counts('', user.token)).toEqual(['53/tcp 1', '53/udp 1', '443/tcp 1']);
    expect(await counts(`?listing_uid=${hidden}`, user.token)).toEqual([]);
    expect(await counts(`?listing_uid=${hidden}`)).toEqual(['22/tcp 1', '443/tcp 1']);
    expect(await counts('', (await fixtures.user()).token)).toHaveLength(4);
  });

  it('includes up to 100 hosts of each port on request', async () => {
    const manyHosts = Array.from({ length: 120 }, (_, index) => host(`198.51.100.${index}`, [port(443)]));
    await scan(...manyHosts, host('203.0.113.1', [port(8_443)]));
    const { body } = await read('?include=assets');
    const [first, second] = body.data.attributes.ports;
    expect(first).toMatchObject({ number: 443, asset_count: 120 });
    expect(new Set(first.asset_uids).size).toBe(100);
    expect(second).toEqual({
      number: 8_443,
      protocol: 'tcp',
      asset_count: 1,
      asset_uids: [await uidOf('203.0.113.1')],
    });
  });

  it.each([
    'number=-1',
    'number=65536',
    'number=x',
    'observed_state=filtered',
    'listing_uid=A',
    'include=ports',
    'page=0',
    'per_page=1001',
    'limit=0',
  ])('returns 400 for %s', async (query) => {
    const response = await read(`?${query}`);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ status: 400, source: query.split('=')[0] });
  });

  it('returns 404 for organizations of others, their groups and unknown organizations', async () => {
    const otherOrganization = await fixtures.organization();
    await fixtures.organizationGroup('portgroup', [organization.uid]);
    for (const uid of [otherOrganization.uid, 'portgroup', 'no-such', 'NO'])
      expect(
        (await server.request('GET', `/api/streaming/v1/${uid}/assets/ports`, { token: admin.token })).status,
      ).toBe(404);
  });
});
